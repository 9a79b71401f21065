"""From pushes to a belief about the object; `methods` holds the ways to get there."""
