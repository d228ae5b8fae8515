"""Floor 5: the recall of past sessions for a prompt, and the index that serves it."""
