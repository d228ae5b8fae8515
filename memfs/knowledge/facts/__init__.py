"""Facts: extracted from messages, held against those that are known, stored and selected."""
