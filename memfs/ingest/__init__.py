"""Floor 4: transcripts become messages, other tools' memory blocks and passages, files chunks."""
