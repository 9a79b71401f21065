"""`pushwise experiment real`: real pushes recorded by other laboratories."""
