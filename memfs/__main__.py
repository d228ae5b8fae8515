"""`python -m memfs`."""

import sys

from memfs.cli.main import main

sys.exit(main())
