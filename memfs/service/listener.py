"""Where the service listens: one socket for a user, taken over from one that died."""

from __future__ import annotations

import os
import select
import socket
import stat
from contextlib import suppress

from memfs import files
from memfs.core.errors import StoreError
from memfs.files import atomic
from memfs.ipc import client, service_client
from memfs.service import credentials
from memfs.store import store_paths

_WAITING = 128  # connections that the system keeps until we take them


class Listener:
    """The socket that is listened on. Whoever makes one holds the lock of the service."""

    def __init__(self) -> None:
        where = service_client.address()
        self._awake = socket.socketpair()
        self.token = client.NO_TOKEN
        if isinstance(where, str):
            self.where = where
            self._socket = _unix(where)
        else:
            self.token = os.urandom(16).hex()
            self.where = f"{store_paths.user_root()}/local/service.port"
            self._socket = _loopback(self.where, self.token)
        self._inode = os.stat(self.where).st_ino

    def accept(self, wait: float) -> socket.socket | None:
        """Return the next connection; None after `wait` seconds or if woken. Raises `OSError`."""
        ready = select.select([self._socket, self._awake[0]], [], [], wait)[0]
        return self._socket.accept()[0] if self._socket in ready else None

    def wake(self) -> None:
        """Let whoever waits for a connection wait no longer."""
        with suppress(OSError):  # nobody waits any more
            self._awake[1].send(b"x")

    def known(self, connected: socket.socket) -> bool:
        """Tell whether a process of this user is at the other end; on loopback its token tells."""
        return self.token != client.NO_TOKEN or credentials.is_same_user(connected)

    def admits(self, token: str) -> bool:
        """Tell whether a question may be asked with this token."""
        if self.token == client.NO_TOKEN:
            return token == self.token
        from hmac import compare_digest  # 6 ms: for the first question

        return compare_digest(os.fsencode(token), os.fsencode(self.token))

    def ours(self) -> bool:
        """Tell whether who looks for the service still finds this one."""
        try:
            return os.stat(self.where).st_ino == self._inode
        except OSError:
            return False

    def close(self, *, leave: bool) -> None:
        """Listen no more. What is left behind lets the next who asks start a new service."""
        for each in (self._socket, *self._awake):
            each.close()
        if not leave and self.ours():
            with suppress(OSError):
                os.remove(self.where)


def _unix(path: str) -> socket.socket:
    folder = os.path.dirname(path)
    files.make_folder(folder, private=True)
    status = os.lstat(folder)
    if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode):
        raise StoreError(f"{folder} is not a folder of this user", "the service needs one")
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # It listens under another name first: who connects finds one that listens.
    temporary = f"{folder}/.{os.getpid()}"
    try:
        with suppress(FileNotFoundError):
            files.remove(temporary)
        made.bind(temporary)
        os.chmod(temporary, 0o600)
        made.listen(_WAITING)
        atomic.rename(temporary, path)
    except BaseException:
        made.close()
        raise
    return made


def _loopback(path: str, token: str) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.bind(("127.0.0.1", 0))
    made.listen(_WAITING)
    atomic.write_private(path, f"{made.getsockname()[1]} {token}\n".encode())
    return made
