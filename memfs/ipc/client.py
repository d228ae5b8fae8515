"""How the service of a user is asked. Hot path: by itself it answers most hooks.

The launcher of hooks loads this file before anything else of memfs, and nothing of memfs after it
if the service answers: nothing but built-in modules is imported here, `os` neither (1 ms).

A question is one frame: its length in four bytes; lines with our protocol, the token, the asker's
version and environment, what is asked, and words that go with it; an empty line; a body. An answer
is a frame too: a byte that says whose work it is, and a body. Who took the answer over says so with
one byte more: what was not taken counts as not said.
"""

import time

try:
    import posix as system
except ImportError:  # Windows
    import os as system  # type: ignore[no-redef]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from socket import socket

leave = system._exit
VERSION = "0.1.0"  # as in `memfs/__init__.py`: a test holds them together
PROTOCOL = "memfs-1"
MINE, YOURS, LEAVING = b"+", b"-", b"!"  # the service did it; the asker is to; another version
TAKEN = b"k"
NO_TOKEN = "-"  # noqa: S105 - where the system tells who asks
NAME = "/local/service.sock"  # below the user's store
QUICK = 0.1  # seconds that a prompt waits for an answer
LARGEST = 64 << 20  # bytes of a frame
LONGEST_PATH = 100  # bytes; systems allow 104 or 108
MOST_INPUT = 512 << 10  # bytes; what is larger is a pasted file, and not worth the time
INSIDE = "MEMFS_INSIDE"  # the variable of assistants that memfs itself runs: their hooks keep still
_INSIDE = frozenset((INSIDE, INSIDE.encode()))  # the environment's names are either
TIMEOUT = 5  # seconds for a prompt, which somebody is waiting for
_KIND_AND_OTHERS, _FOLDER = 0o170022, 0o040000  # of a mode: a folder that only its owner writes to
_KIND, _SOCKET = 0o170000, 0o140000
_OURS = (b"HOME", b"TZ")  # what decides where things are, and which day it is
_OF_ONE_SESSION = (b"MEMFS_SESSION",)


class OutOfTimeError(BaseException):
    """The alarm rang: no error of files or programs, so that nothing takes it for one of those."""


class GoneError(OSError):
    """Whoever was asked ended before it answered."""


class Connection:
    """A connection to the service, or to one that asks it.

    Frames are `bytes` of at most `LARGEST`. All that is sent and received has `wait` seconds
    together. Raises `OSError`, also when time is up; `GoneError` if there is nobody any more.
    """

    __slots__ = ("_socket", "_until")

    def __init__(self, connected: "socket", wait: float) -> None:
        self._socket = connected
        self.allow(wait)

    def allow(self, wait: float) -> None:
        """Give what follows this many seconds from now on."""
        self._until = time.monotonic() + wait

    def send(self, data: bytes) -> None:
        try:
            self._timed().sendall(len(data).to_bytes(4, "big") + data)
        except ConnectionError as error:
            raise GoneError(*error.args) from None

    def receive(self) -> bytes:
        size = int.from_bytes(self._exactly(4), "big")
        if size > LARGEST:
            raise OSError("a frame is too large")
        return self._exactly(size)

    def take(self) -> None:
        """Say that the answer was taken over."""
        try:
            self._timed().sendall(TAKEN)
        except OSError:
            return

    def taken(self) -> bool:
        """Tell whether the asker took the answer over."""
        return self._timed().recv(1) == TAKEN

    def close(self) -> None:
        self._socket.close()

    def _exactly(self, size: int) -> bytes:
        parts = []
        while size:
            try:
                part = self._timed().recv(min(size, 1 << 20))
            except ConnectionError:
                part = b""
            if not part:
                raise GoneError("the other side ended")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _timed(self) -> "socket":
        left = self._until - time.monotonic()
        if left <= 0:
            raise OSError("time is up")
        self._socket.settimeout(left)
        return self._socket


class HookCall:
    """A hook call. `data` is its stdin as soon as it was read.

    `asked` tells whether the service was asked. `began` is when the process started, on the clock
    of `time.perf_counter`.
    """

    __slots__ = ("asked", "began", "data", "words", "wrong")

    def __init__(self, words: list[str], data: bytes | None = None) -> None:
        # An interpreter that starts waits for nothing: its processor time is the time it took.
        self.began = time.perf_counter() - (time.process_time() if data is None else 0)
        self.asked = False
        self.words = words or ["claude"]
        self.data = data
        self.wrong: BaseException | None = None

    def told(self) -> list[str]:
        """Return what the service is told of it: milliseconds since it began, and its words."""
        return [f"{self.spent():.1f}", *self.words]

    def spent(self) -> float:
        """Return the milliseconds since it began."""
        return (time.perf_counter() - self.began) * 1000

    def read(self) -> bytes:
        """Return the stdin. Raises `ValueError` for one that is too large, `OSError`."""
        if self.wrong:
            raise self.wrong
        if self.data is None:
            try:
                self.data = _read()
            except BaseException as error:
                self.wrong = error
                raise
        return self.data


def ask_hook(call: HookCall) -> bool:
    """Have the service answer a hook call; False if this process has to.

    Nothing is raised but by the clock: what is wrong will be wrong again, and told.
    """
    if is_inside():
        return True
    line = None if call.asked else _connected(call)
    if line is None:
        return False
    try:
        set_clock(TIMEOUT)
        data = call.read()
        call.asked = True
        return (
            exchange_frames(line, format_question("hook", call.told(), data, system.environ), write)
            is not None
        )
    except GoneError:
        call.asked = False  # it died just now: there may be another one, or there is to be
        return False
    except (OSError, ValueError, OutOfTimeError):
        return False
    finally:
        line.close()


def is_inside() -> bool:
    """Tell whether memfs itself runs the assistant that calls."""
    return not _INSIDE.isdisjoint(system.environ)


def exchange_frames(
    line: Connection, question: bytes, deliver: "Callable[[bytes], object] | None" = None
) -> bytes | None:
    """Return the answer; None if the asker is to do the work. Raises `OSError` if none comes.

    `deliver` is given the answer before it counts as taken; what it raises goes through.
    """
    line.send(question)
    answer = line.receive()
    if answer[:1] != MINE:
        return None
    if deliver:
        deliver(answer[1:])
        line.allow(QUICK)
    line.take()
    return answer[1:]


def format_question(
    kind: str,
    words: list[str],
    body: bytes,
    environ: "Mapping[bytes, bytes]",
    token: str = NO_TOKEN,
) -> bytes:
    """Return the frame of a question."""
    lines = [each.encode("utf-8", "surrogateescape") for each in (PROTOCOL, token, VERSION)]
    lines += [encode_environment(environ), kind.encode()]
    lines += [word.encode("utf-8", "surrogateescape") for word in words]
    return b"\n".join(line.replace(b"\n", b"\r") or b" " for line in lines) + b"\n\n" + body


def encode_environment(environ: "Mapping[bytes, bytes]") -> bytes:
    """Return what two processes must have in common for one to answer for the other."""
    found = [
        name + b"=" + value
        for name, value in environ.items()
        if (name in _OURS or name.startswith(b"MEMFS_")) and name not in _OF_ONE_SESSION
    ]
    return b"\0".join(sorted(found)).replace(b"\n", b"\r") or b" "


def is_private_folder(folder: "bytes | str") -> bool:
    """Tell whether a folder is one that only this user can write to."""
    try:
        status = system.lstat(folder)
    except OSError:
        return False
    return status.st_uid == system.getuid() and status.st_mode & _KIND_AND_OTHERS == _FOLDER


def is_socket(path: "bytes | str") -> bool:
    """Tell whether a path is a socket of this user, and no link to one.

    A link comes with a repository or an archive, a socket does not.
    """
    try:
        status = system.lstat(path)
    except OSError:
        return False
    return status.st_uid == system.getuid() and status.st_mode & _KIND == _SOCKET


def set_clock(seconds: int) -> None:
    """Raise OutOfTimeError here after `seconds` (0: never), where the system has timers.

    `_signal` is what `signal` wraps in enums, which cost 3 ms.
    """
    try:
        import _signal
    except ImportError:
        return
    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, _too_late)
        _signal.setitimer(_signal.ITIMER_REAL, seconds)


def write(data: bytes) -> None:
    """Print the answer of a hook."""
    rest = memoryview(data)
    while rest:
        rest = rest[system.write(1, rest) :]


def _connected(call: HookCall) -> Connection | None:
    """Connect to the service where that needs no looking for; None if it is not there.

    Where nothing listens, nor did before, there is nobody to be asked in another way. A link is
    not followed: it leads to whatever else of this user listens.
    """
    if not hasattr(system, "getuid"):
        return None
    environ: Mapping[bytes, bytes] = system.environ
    root = environ.get(b"MEMFS_HOME") or environ.get(b"HOME", b"") + b"/.agent-memory"
    path = root + NAME.encode()
    if (
        root[:1] != b"/"
        or len(path) > LONGEST_PATH
        or not is_private_folder(path.rpartition(b"/")[0])
    ):
        return None
    if not is_socket(path):
        call.asked = True
        return None
    import _socket

    connected = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connected.settimeout(QUICK)
        connected.connect(path)
    except OSError:
        connected.close()
        return None
    return Connection(connected, QUICK)  # type: ignore[arg-type]  # it is what `socket.socket` wraps


def _read() -> bytes:
    data = b""
    while len(data) <= MOST_INPUT:
        more = system.read(0, 1 << 18)
        if not more:
            return data
        data += more
    while system.read(0, 1 << 18):  # to the end: the host must not find its pipe closed
        pass
    raise ValueError(f"stdin is larger than {MOST_INPUT >> 10} KB; nothing was added to the prompt")


def _too_late(_signal: int, _frame: object) -> None:
    raise OutOfTimeError("out of time; nothing was added to the prompt")
