"""Methods of identification; `registry` lists them."""
