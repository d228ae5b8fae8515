"""Floor 0: pure values and functions. No I/O, no clock."""
