"""Floor 2: what goes into the assistant's context, and how it fits."""
