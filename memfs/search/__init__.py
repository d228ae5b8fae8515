"""Floor 3: data derived from the store, rebuilt rather than migrated."""

import os

# Set before this room imports numpy. One thread is enough for our products: more of them
# double the start time, and wait for each other for milliseconds on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

TEXT = "v5/text"  # the full-text index in the folder of an index; the number is its schema's
