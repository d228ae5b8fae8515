"""Floor 11, the main door: one lazily imported file for each command."""
