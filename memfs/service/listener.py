"""The socket of the service: one for a user. It replaces that of a service that died."""

from __future__ import annotations

import os
import select
import socket
import stat
import struct
import sys
from contextlib import suppress

from memfs import files
from memfs.core.errors import StoreError
from memfs.files import atomic
from memfs.ipc import client, service_client
from memfs.store import store_paths

_SOL_LOCAL, _LOCAL_PEERCRED = 0, 1  # of macOS and the BSDs
_CREDENTIALS = "2i"  # version, uid; more follows

_WAITING = 128  # connections that the system queues until we accept them


class Listener:
    """The listening socket. The caller holds the lock of the service."""

    def __init__(self) -> None:
        address = service_client.address()
        self._awake = socket.socketpair()
        self.token = client.NO_TOKEN
        if isinstance(address, str):
            self.address = address
            self._socket = _unix(address)
        else:
            self.token = os.urandom(16).hex()
            self.address = f"{store_paths.user_root()}/local/service.port"
            self._socket = _loopback(self.address, self.token)
        self._inode = os.stat(self.address).st_ino

    def accept(self, wait: float) -> socket.socket | None:
        """Return the next connection; None after `wait` seconds or if woken. Raises `OSError`."""
        ready = select.select([self._socket, self._awake[0]], [], [], wait)[0]
        return self._socket.accept()[0] if self._socket in ready else None

    def wake(self) -> None:
        """Make `accept` return at once."""
        with suppress(OSError):  # nobody waits any more
            self._awake[1].send(b"x")

    def is_known_peer(self, connection: socket.socket) -> bool:
        """Return whether the client is of this user; True on loopback, where `admits` decides."""
        return self.token != client.NO_TOKEN or is_same_user(connection)

    def admits(self, token: str) -> bool:
        """Return whether a request with this token is allowed."""
        if self.token == client.NO_TOKEN:
            return token == self.token
        from hmac import compare_digest  # 6 ms: for the first request

        return compare_digest(os.fsencode(token), os.fsencode(self.token))

    def is_current(self) -> bool:
        """Return whether the address of the service still leads to this socket."""
        try:
            return os.stat(self.address).st_ino == self._inode
        except OSError:
            return False

    def close(self, *, leave: bool) -> None:
        """Close the socket. With `leave` its file stays: the next client starts a new service."""
        for each in (self._socket, *self._awake):
            each.close()
        if not leave and self.is_current():
            with suppress(OSError):
                os.remove(self.address)


def _unix(path: str) -> socket.socket:
    folder = os.path.dirname(path)
    files.make_folder(folder, private=True)
    status = os.lstat(folder)
    if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode):
        raise StoreError(f"{folder} is not a folder of this user", "the service needs one")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # It is bound under another name first: no client finds a socket that does not listen yet.
    temporary = f"{folder}/.{os.getpid()}"
    try:
        with suppress(FileNotFoundError):
            files.remove(temporary)
        listener.bind(temporary)
        os.chmod(temporary, 0o600)
        listener.listen(_WAITING)
        atomic.rename(temporary, path)
    except BaseException:
        listener.close()
        raise
    return listener


def _loopback(path: str, token: str) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(_WAITING)
    atomic.write_private(path, f"{listener.getsockname()[1]} {token}\n".encode())
    return listener


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
