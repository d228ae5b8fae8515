"""Run a memfs hook: `python -I -S -E memfs_hook.py HOST`. No logic: it only says where memfs is.

What asks the service is loaded as a file of its own first: most hooks need nothing else of memfs.
"""

import sys
from _frozen_importlib_external import SourceFileLoader

_root = __file__.replace("\\", "/").rsplit("/", 2)[0]
if _root.endswith("/memfs/_shipped"):
    _root = _root.rsplit("/", 2)[0]
_name = "memfs.ipc.client"
client = sys.modules[_name] = type(sys)(_name)  # for the rest of memfs, too
SourceFileLoader(_name, f"{_root}/memfs/ipc/client.py").exec_module(client)
_call = client.HookCall(sys.argv[1:])
if not client.ask_hook(_call):
    import gc

    gc.disable()  # it ends soon: looking for cycles takes a millisecond
    _prefix = sys.executable.replace("\\", "/").rsplit("/", 2)[0]
    _version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    sys.path += [_root, f"{_prefix}/lib/{_version}/site-packages", f"{_prefix}/Lib/site-packages"]
    from memfs.hook.main import main

    main(_call)
client.leave(0)  # nothing is left to tear down, and tearing down takes time
