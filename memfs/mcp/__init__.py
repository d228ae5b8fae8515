"""The MCP door: the tools, the blocks as resources, and prompts, over standard input and output."""
