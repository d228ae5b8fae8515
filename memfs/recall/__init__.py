"""Floor 5: what past sessions say to a prompt, and the index that it is found in."""
