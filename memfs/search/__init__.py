"""Floor 1: what is derived from the store, and rebuilt rather than migrated."""
