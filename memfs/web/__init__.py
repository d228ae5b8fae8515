"""Floor 11: the page: what is remembered, in a browser on this machine, and the edits of it."""
