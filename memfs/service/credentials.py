"""Who asks: whoever is not this user is not answered."""

from __future__ import annotations

import os
import socket
import struct
import sys

_SOL_LOCAL, _LOCAL_PEERCRED = 0, 1  # of macOS and the BSDs
_CREDENTIALS = "2i"  # version, uid; more follows


def is_same_user(connected: socket.socket) -> bool:
    """Tell whether a process of this user is at the other end of a unix socket."""
    try:
        return _user(connected) == os.getuid()
    except (OSError, struct.error):
        return False


def _user(connected: socket.socket) -> int:
    if sys.platform.startswith("linux"):
        size = struct.calcsize("3i")
        data = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        return int(struct.unpack("3i", data)[1])
    data = connected.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 76)
    return int(struct.unpack(_CREDENTIALS, data[: struct.calcsize(_CREDENTIALS)])[1])
