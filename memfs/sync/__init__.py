"""Floor 6: our sections of instruction files such as AGENTS.md, and git's hook for them."""
