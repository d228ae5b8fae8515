"""Floor 5: measurements, each against its floor in the same run."""
