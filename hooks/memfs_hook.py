"""Run a memfs hook: `python -I -S -E memfs_hook.py HOST`. No logic: it only says where memfs is.

What asks the service is loaded as a file of its own first: most hooks need nothing else of memfs.
"""

import sys

_root = __file__.replace("\\", "/").rsplit("/", 2)[0]
if _root.endswith("/memfs/_shipped"):
    _root = _root.rsplit("/", 2)[0]
sys.path.insert(0, f"{_root}/memfs/store")
import asking  # type: ignore[import-not-found]  # noqa: E402 - memfs/store/asking.py

del sys.path[0]
sys.modules["memfs.store.asking"] = asking  # for the rest of memfs: it is there already
_call = asking.Call(sys.argv[1:])
if not asking.answered(_call):
    import gc

    gc.disable()  # it ends soon: looking for cycles takes a millisecond
    _prefix = sys.executable.replace("\\", "/").rsplit("/", 2)[0]
    _version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    sys.path += [_root, f"{_prefix}/lib/{_version}/site-packages", f"{_prefix}/Lib/site-packages"]
    from memfs.hook.main import main

    main(_call)
asking.leave(0)  # nothing is left to tear down, and tearing down takes time
