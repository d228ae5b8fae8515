"""Finds the service of a user and asks it (see `client`)."""

import os
import time

from memfs.ipc import client
from memfs.ipc.client import QUICK, Connection, GoneError
from memfs.store import store_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NO_START = ("status", "stop")  # questions that do not start it


def ask(
    kind: str,
    words: "list[str]",
    body: bytes = b"",
    wait: float = QUICK,
    deliver: "Callable[[bytes], object] | None" = None,
    *,
    long_lived: bool = False,
) -> "bytes | None":
    """Ask the service; None if there is none, it is too slow, or it leaves the work to the client.

    `deliver` is called with the answer before it is confirmed. A service that died is restarted,
    but not for `status` or `stop`. `long_lived`: this process does not end soon.
    """
    try:
        connection = connect(wait)
        if connection is None:
            return None
        try:
            return client.exchange_frames(connection, format_question(kind, words, body), deliver)
        finally:
            connection.close()
    except GoneError:
        if kind not in _NO_START:
            _revive(words[0] if kind == "hold" and words else "", long_lived=long_lived)
        return None
    except OSError:
        return None


class PersistentClient:
    """A connection to the service that stays open between questions. For one thread.

    Each answer has `wait` seconds.
    """

    def __init__(self, kind: str, wait: float = QUICK) -> None:
        self._kind, self._wait = kind, wait
        self._connection: Connection | None = None
        self._heads: dict[tuple[str, ...], bytes] = {}  # of questions, by their words

    def ask(
        self, words: "list[str]", body: bytes, deliver: "Callable[[bytes], object]"
    ) -> "bytes | None":
        """Return the answer, once delivered; None if there is no service or it leaves the work.

        Raises `OSError` if none comes in time.
        """
        if self._connection is not None:
            try:
                return self._exchange(words, body, deliver)
            except GoneError:
                pass  # another one may be there by now
        return self._exchange(words, body, deliver)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        self._heads = {}
        if connection is not None:
            connection.close()

    def _exchange(
        self, words: "list[str]", body: bytes, deliver: "Callable[[bytes], object]"
    ) -> "bytes | None":
        try:
            if self._connection is None:
                self._connection = connect(self._wait)
                if self._connection is None:
                    return None
            head = self._heads.get(tuple(words))
            if head is None:
                head = self._heads[tuple(words)] = format_question(self._kind, words, b"")
            self._connection.allow(self._wait)
            return client.exchange_frames(self._connection, head + body, deliver)
        except BaseException:  # a late answer must not be read as that to the next question
            self.close()
            raise


def _revive(folder: str, *, long_lived: bool) -> None:
    """Restart the service if it died: not if it was stopped, or closed only this connection.

    It begins with the store of `folder`; "": of the current directory, as hooks do.
    """
    try:
        connection = connect(QUICK)
    except GoneError:
        from memfs.ipc import spawn  # the service answers, mostly

        spawn.start_service(folder or _get_cwd(), wait=long_lived)
    except OSError:
        return
    else:
        if connection is not None:
            connection.close()


def _get_cwd() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder was removed
        return ""


def is_listening() -> bool:
    """Tell whether a service listens, or has listened, where no other user can."""
    where = address()
    return client.is_private_folder(os.path.dirname(where)) and client.is_socket(where)


def connect(wait: float) -> "Connection | None":
    """Connect to the service; None if there is none.

    Raises `OSError` if it does not listen just now, `GoneError` if it died.
    """
    if not is_listening():
        return None
    import _socket  # where there is a service

    began = time.monotonic()
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(wait)
        connection.connect(address())
    except ConnectionRefusedError:
        connection.close()
        raise GoneError("nobody listens") from None
    except BaseException:
        connection.close()
        raise
    left = wait + began - time.monotonic()
    return Connection(connection, left)  # type: ignore[arg-type]  # it is what `socket.socket` wraps


def address() -> str:
    """Return the address of this user's service: a socket's path."""
    path = store_paths.user_root() + client.NAME
    if len(os.fsencode(path)) <= client.LONGEST_PATH:
        return path
    from hashlib import sha256  # for a long path alone

    return f"/tmp/memfs-{os.getuid()}/{sha256(os.fsencode(path)).hexdigest()[:24]}.sock"  # noqa: S108


def format_question(kind: str, words: "list[str]", body: bytes) -> bytes:
    """Return the frame of a question."""
    return client.format_question(kind, words, body, _encode_environ())


def encode_environment() -> bytes:
    """Return the variables that must be equal for one process to answer for another."""
    return client.encode_environment(_encode_environ())


def _encode_environ() -> "dict[bytes, bytes]":
    return {os.fsencode(name): os.fsencode(value) for name, value in os.environ.items()}
