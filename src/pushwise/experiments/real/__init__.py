"""Real pushes of other laboratories: read, learned from and predicted."""
