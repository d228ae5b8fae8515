"""Floor 9: a model in a loop: asked, its tool calls done, what comes of it judged.

`model` is what can be asked, `endpoint` asks over HTTP, `loop` is one turn of the user. An
`evaluation` plays `conversations` and holds what is `remembered` then against `expectations`;
`scores` makes rows of it.
"""
