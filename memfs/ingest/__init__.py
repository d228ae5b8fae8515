"""Floor 4: transcripts become messages; other tools' memory becomes blocks and passages."""
