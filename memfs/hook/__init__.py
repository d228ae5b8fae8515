"""Floor 5, a door: a host's hook. Hot path: every import here is paid at every prompt."""
