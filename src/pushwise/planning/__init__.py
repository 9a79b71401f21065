"""From a model to pushes: stability at the table's edge, goals, paths, contacts, plans."""
