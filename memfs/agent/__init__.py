"""Floor 11: a model in a loop: requests, tool calls, reviews and evaluation.

`model` is the interface, `endpoint` and `configured_model` implement it, `loop` is one turn of the
user. `evaluation` plays `conversations`, and compares what is in memory then with what is expected.
"""
