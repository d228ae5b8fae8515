"""Floor 10: measurements, each against its floor in the same run."""
