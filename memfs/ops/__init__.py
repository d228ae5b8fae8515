"""Floor 7: one verb a file. An op returns an outcome and never prints."""
