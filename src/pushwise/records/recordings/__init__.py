"""Recordings of others (ROS bags, MIT files, CSV) and the pushes in them."""
