"""Floor 3: what is derived from the store, and rebuilt rather than migrated."""

import os

# Before anything of this room imports numpy. One thread is enough for what we multiply: more of
# them cost twice the start, and wait for each other for milliseconds where others are at work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
