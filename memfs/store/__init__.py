"""Floor 3: the truth on disk: files below `.agent-memory/`, and git. No other room opens them."""
