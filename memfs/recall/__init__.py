"""Floor 2: what past sessions say to a prompt: exchanges, and the sentences that answer it."""
