"""Floor 8: what an assistant can do with its memory, by name and arguments.

`definition` says what a tool is and checks arguments, `registry` has all of them, `calls` runs one,
`provider_formats` knows how each provider writes tools, calls and results.
"""
