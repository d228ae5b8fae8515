"""Floor 5: what goes into an assistant's context, and how it fits."""
