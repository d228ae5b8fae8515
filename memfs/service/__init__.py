"""Floor 9, a door: the warm process of a user, which answers hooks and searches."""
