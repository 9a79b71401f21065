"""From an unknown object to the table's edge: explore, follow, slide (Algorithm 3)."""
