"""Floor 9, a door: the tools, the blocks as resources, and prompts, over MCP."""
