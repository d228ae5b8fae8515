"""A process that uploads one joined project for the service, and ends.

The project comes as a line of JSON on standard input, what came of it goes out as one. It ends at
once with its input: then the service is gone.
"""

from __future__ import annotations

import json
import os
import sys
import threading

from memfs.core.errors import LockedError, MemfsError
from memfs.ipc.team_client import TeamError
from memfs.ops.team_status import find_store
from memfs.ops.team_upload import upload
from memfs.store import store_paths, team_membership


def main() -> None:
    """Upload the project that standard input names."""
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    sys.stdout.write(json.dumps(run_upload(str(request["local"]))) + "\n")
    sys.stdout.flush()
    os._exit(0)


def run_upload(local: str) -> dict[str, object]:
    """Upload the project of a local folder; return its `error` and the seconds to `wait`."""
    try:
        user = store_paths.user_store()
        project = team_membership.load_project(user, local) if user else None
        store = find_store(project) if project else None
        if user and store:
            upload(user, store, 0)
    except LockedError:
        return {"error": ""}  # another process sends it
    except TeamError as error:
        return {"error": error.message, "wait": error.wait}
    except (MemfsError, OSError) as error:
        return {"error": str(error) or type(error).__name__}
    return {"error": ""}


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)
