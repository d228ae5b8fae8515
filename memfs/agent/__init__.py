"""Floor 11: a model in a loop: requests, tool calls, reviews and evaluation.

`model` is the interface, `endpoint` and `command` implement it, `loop` is one turn of the user.
`evaluation` plays `conversations` and compares a `memory_snapshot` with `expectations`; `scores`
makes rows of it.
"""
