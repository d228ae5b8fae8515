"""The client of a user's service. Hot path: by itself it answers most hooks.

The launcher of hooks loads this file before anything else of memfs, and nothing of memfs after it
if the service answers: nothing but built-in modules is imported here, `os` neither (1 ms).

A question is one frame: its length in four bytes; lines with the protocol, `-`, the client's
version and environment, the kind of question and its words; an empty line; a body. An answer is a
frame too: a status byte (who does the work), and a body. The client confirms an answer with one
byte more: an unconfirmed one counts as not delivered.
"""

import posix as system
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from socket import socket

leave = system._exit  # noqa: SLF001 - it is public in `os`
VERSION = "0.2.0"  # as in `memfs/__init__.py`: a test holds them together
PROTOCOL = "memfs-1"
MINE, YOURS, LEAVING = b"+", b"-", b"!"  # the service did it; the client has to; other version
TAKEN = b"k"
NAME = "/local/service.sock"  # below the user's store
QUICK = 0.1  # seconds that a prompt waits for an answer
LARGEST = 64 << 20  # bytes of a frame
LONGEST_PATH = 100  # bytes; systems allow 104 or 108
MOST_INPUT = 512 << 10  # bytes; what is larger is a pasted file, and not worth the time
INSIDE = "MEMFS_INSIDE"  # set for assistants that memfs itself runs: their hooks do nothing
_INSIDE = frozenset((INSIDE, INSIDE.encode()))  # the names are `str` or `bytes`
TIMEOUT = 5  # seconds for a prompt, which somebody is waiting for
_KIND_AND_OTHERS, _FOLDER = 0o170022, 0o040000  # of a mode: a folder that only its owner writes to
_KIND, _SOCKET = 0o170000, 0o140000
_OURS = (b"HOME", b"TZ")  # they decide on paths and dates
_OF_ONE_SESSION = (b"MEMFS_SESSION",)


class OutOfTimeError(BaseException):
    """The time limit is over. A `BaseException`, so that no handler of errors catches it."""


class GoneError(OSError):
    """The other side of a connection ended before it answered."""


class Connection:
    """A connection to the service, or to one of its clients.

    Frames are `bytes` of at most `LARGEST`. All that is sent and received has `wait` seconds
    together. Raises `OSError`, also when time is up; `GoneError` if the other side ended.
    """

    __slots__ = ("_socket", "_until")

    def __init__(self, connected: "socket", wait: float) -> None:
        self._socket = connected
        self.allow(wait)

    def allow(self, wait: float) -> None:
        """Set the deadline of what follows to `wait` seconds from now."""
        self._until = time.monotonic() + wait

    def send(self, data: bytes) -> None:
        try:
            self._get_socket().sendall(len(data).to_bytes(4, "big") + data)
        except ConnectionError as error:
            raise GoneError(*error.args) from None

    def receive(self) -> bytes:
        size = int.from_bytes(self._receive_exactly(4), "big")
        if size > LARGEST:
            raise OSError("a frame is too large")
        return self._receive_exactly(size)

    def confirm(self) -> None:
        """Confirm the answer to the service. Errors are ignored."""
        try:
            self._get_socket().sendall(TAKEN)
        except OSError:
            return

    def await_confirmation(self) -> bool:
        """Tell whether the client confirms the answer."""
        return self._get_socket().recv(1) == TAKEN

    def close(self) -> None:
        self._socket.close()

    def _receive_exactly(self, size: int) -> bytes:
        parts = []
        while size:
            try:
                part = self._get_socket().recv(min(size, 1 << 20))
            except ConnectionError:
                part = b""
            if not part:
                raise GoneError("the other side ended")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _get_socket(self) -> "socket":
        left = self._until - time.monotonic()
        if left <= 0:
            raise OSError("time is up")
        self._socket.settimeout(left)
        return self._socket


class HookCall:
    """A hook call. `data` is its stdin as soon as it was read.

    `asked`: the service was asked already. `began` is the time at which the process started, on
    the clock of `time.perf_counter`.
    """

    __slots__ = ("asked", "began", "data", "words", "wrong")

    def __init__(self, words: list[str], data: bytes | None = None) -> None:
        # A starting interpreter does not wait: its processor time is the elapsed time.
        self.began = time.perf_counter() - (time.process_time() if data is None else 0)
        self.asked = False
        self.words = words or ["claude"]
        self.data = data
        self.wrong: BaseException | None = None

    def list_words(self) -> list[str]:
        """Return the words of its question: the milliseconds since it began, and its own words."""
        return [f"{self.get_elapsed_ms():.1f}", *self.words]

    def get_elapsed_ms(self) -> float:
        """Return the milliseconds since the process started."""
        return (time.perf_counter() - self.began) * 1000

    def read(self) -> bytes:
        """Return the stdin. Raises `ValueError` for one that is too large, `OSError`."""
        if self.wrong:
            raise self.wrong
        if self.data is None:
            try:
                self.data = _read_stdin()
            except BaseException as error:
                self.wrong = error
                raise
        return self.data


def ask_hook(call: HookCall) -> bool:
    """Have the service answer a hook call; False if this process has to.

    Only the clock raises: other errors occur again in this process, which reports them.
    """
    if is_inside():
        return True
    connection = None if call.asked else _connect(call)
    if connection is None:
        return False
    try:
        set_clock(TIMEOUT)
        data = call.read()
        call.asked = True
        question = format_question("hook", call.list_words(), data, system.environ)
        return exchange_frames(connection, question, write) is not None
    except GoneError:
        call.asked = False  # it died just now: there may be another one, or one is to be started
        return False
    except (OSError, ValueError, OutOfTimeError):
        return False
    finally:
        connection.close()


def is_inside() -> bool:
    """Tell whether memfs itself runs the assistant that calls."""
    return not _INSIDE.isdisjoint(system.environ)


def exchange_frames(
    connection: Connection, question: bytes, deliver: "Callable[[bytes], object] | None" = None
) -> bytes | None:
    """Return the answer; None if the client is to do the work. Raises `OSError` if none comes.

    `deliver` is called with the answer before it is confirmed; its errors are passed on.
    """
    connection.send(question)
    answer = connection.receive()
    if answer[:1] != MINE:
        return None
    if deliver:
        deliver(answer[1:])
        connection.allow(QUICK)
    connection.confirm()
    return answer[1:]


def format_question(
    kind: str, words: list[str], body: bytes, environ: "Mapping[bytes, bytes]"
) -> bytes:
    """Return the frame of a question."""
    lines = [each.encode("utf-8", "surrogateescape") for each in (PROTOCOL, "-", VERSION)]
    lines += [encode_environment(environ), kind.encode()]
    lines += [word.encode("utf-8", "surrogateescape") for word in words]
    return b"\n".join(line.replace(b"\n", b"\r") or b" " for line in lines) + b"\n\n" + body


def encode_environment(environ: "Mapping[bytes, bytes]") -> bytes:
    """Return the variables that must be equal for one process to answer for another."""
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
        _signal.signal(_signal.SIGALRM, _raise_timeout)
        _signal.setitimer(_signal.ITIMER_REAL, seconds)


def write(data: bytes) -> None:
    """Print the answer of a hook."""
    rest = memoryview(data)
    while rest:
        rest = rest[system.write(1, rest) :]


def _connect(call: HookCall) -> Connection | None:
    """Connect to the service at its usual path; None if it is not there.

    Without a socket no service runs, and `call.asked` is set. A link is not followed: it may lead
    to another program of this user.
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


def _read_stdin() -> bytes:
    data = b""
    while len(data) <= MOST_INPUT:
        more = system.read(0, 1 << 18)
        if not more:
            return data
        data += more
    while system.read(0, 1 << 18):  # to the end: a closed pipe would be an error for the host
        pass
    raise ValueError(f"stdin is larger than {MOST_INPUT >> 10} KB; nothing was added to the prompt")


def _raise_timeout(_signal: int, _frame: object) -> None:
    raise OutOfTimeError("out of time; nothing was added to the prompt")
