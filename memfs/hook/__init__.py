"""Floor 9, a door: a host's hook. Hot path: every prompt pays for every import here."""
