"""Floor 10, the main door: one lazily imported file for each command."""
