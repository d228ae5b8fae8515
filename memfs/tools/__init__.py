"""Floor 8: what an assistant can do with its memory, by name and arguments.

`definition` defines tools and checks arguments, `registry` loads all tools, `calls` runs one,
`provider_formats` reads and writes the providers' formats of tools, calls and results.
"""
