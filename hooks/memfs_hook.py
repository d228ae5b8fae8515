"""Run a memfs hook: `python -I -S -E memfs_hook.py HOST`. No logic: it only says where memfs is."""

import os
import sys

_root = __file__.replace("\\", "/").rsplit("/", 2)[0]
if _root.endswith("/memfs/_shipped"):
    _root = _root.rsplit("/", 2)[0]
_prefix = sys.executable.replace("\\", "/").rsplit("/", 2)[0]
_version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
sys.path += [_root, f"{_prefix}/lib/{_version}/site-packages", f"{_prefix}/Lib/site-packages"]

from memfs.hook.main import main  # noqa: E402

os._exit(main(sys.argv[1:]))  # nothing is left to tear down, and tearing down takes time
