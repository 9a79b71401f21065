"""Pushes to a model with a posterior; one method a file."""
