"""The compiled code of the physics; private to `physics`."""
