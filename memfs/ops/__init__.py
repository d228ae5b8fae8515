"""Floor 4: one verb per file. An op returns an outcome and never prints; no op calls another."""
