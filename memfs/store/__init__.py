"""Floor 1: the truth on disk. Sole owner of `.agent-memory/` and of git."""
