"""The user behind a connection: clients of other users get no answer."""

from __future__ import annotations

import os
import socket
import struct
import sys

_SOL_LOCAL, _LOCAL_PEERCRED = 0, 1  # of macOS and the BSDs
_CREDENTIALS = "2i"  # version, uid; more follows


def is_same_user(connection: socket.socket) -> bool:
    """Return whether the other end of a unix socket is a process of this user."""
    try:
        return _user(connection) == os.getuid()
    except (OSError, struct.error):
        return False


def _user(connection: socket.socket) -> int:
    if sys.platform.startswith("linux"):
        size = struct.calcsize("3i")
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        return int(struct.unpack("3i", data)[1])
    data = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 76)
    return int(struct.unpack(_CREDENTIALS, data[: struct.calcsize(_CREDENTIALS)])[1])
