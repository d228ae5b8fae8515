"""The flow of past sessions: what was wanted, what was done about it, and how it came out."""
