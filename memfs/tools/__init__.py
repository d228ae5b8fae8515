"""Tools: what an assistant can do with its memory, by name and arguments, whoever carries the call.

`definition` says what a tool is and checks arguments, `table` has all of them, `calls` runs one,
`shapes` knows how each provider writes tools, calls and results.
"""
