"""The numbers we publish, one command each."""
