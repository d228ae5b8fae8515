"""Floor 11: other tools' memory comes in, and this one goes out, to a file or to them."""
