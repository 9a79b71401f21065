"""The methods of identification, one file per method."""
