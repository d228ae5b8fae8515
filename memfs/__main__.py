"""`python -m memfs`, and `python -c "import memfs.__main__"`, which starts a quarter sooner."""

import sys

from memfs.cli.main import run_process

sys.exit(run_process())
