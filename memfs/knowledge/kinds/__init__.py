"""The kinds of memory: vector, facts, static and graph, behind one protocol (see `protocol`)."""
