"""The client of a user's service: asks it, and starts it. Hot path: by itself it answers hooks.

The launcher of hooks loads this file before anything else of memfs, and nothing of memfs after it
if the service answers: nothing but built-in modules is imported here, `os` neither (1 ms). What
other processes need imports the rest where it is used.

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
LOCK = "service.lock"
_NO_START = ("status", "stop")  # questions that do not start it
QUICK = 0.1  # seconds that a prompt waits for an answer
ASKED = 2.0  # and other questions
LARGEST = 64 << 20  # bytes of a frame
LONGEST_PATH = 100  # bytes; systems allow 104 or 108
MOST_INPUT = 8 << 20  # bytes: with what a tool writes or read; more is not worth the time
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
            raise OSError("the message is too large")
        return self._receive_exactly(size)

    def confirm(self) -> None:
        try:
            self._get_socket().sendall(TAKEN)
        except OSError:
            return

    def await_confirmation(self) -> bool:
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
                raise GoneError("the other side closed the connection")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _get_socket(self) -> "socket":
        left = self._until - time.monotonic()
        if left <= 0:
            raise OSError("timed out")
        self._socket.settimeout(left)
        return self._socket


class HookCall:
    """A hook call. `data` is its stdin as soon as it was read.

    `asked`: the service was asked already; `late`: it did not answer in time. `began` is the time
    at which the process started, on the clock of `time.perf_counter`.
    """

    __slots__ = ("asked", "began", "data", "late", "words", "wrong")

    def __init__(self, words: list[str], data: bytes | None = None) -> None:
        # A starting interpreter does not wait: its processor time is the elapsed time.
        self.began = time.perf_counter() - (time.process_time() if data is None else 0)
        self.asked = self.late = False
        self.words = words or ["claude"]
        self.data = data
        self.wrong: BaseException | None = None

    def list_words(self) -> list[str]:
        """Return the words of its question: the milliseconds since it began, and its own words."""
        return [f"{self.get_elapsed_ms():.1f}", *self.words]

    def get_elapsed_ms(self) -> float:
        return (time.perf_counter() - self.began) * 1000

    def read(self) -> bytes:
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
    """Have the service answer a hook call; False if this process has to. Only the clock raises."""
    if is_inside():
        return True
    path = _find_usual_path()
    if not path:
        return False
    connection = None
    try:
        connection = _connect(path, QUICK)
        call.asked = True
        if connection is None:
            return False
        set_clock(TIMEOUT)
        data = call.read()
        question = format_question("hook", call.list_words(), data, system.environ)
        return exchange_frames(connection, question, write) is not None
    except GoneError:
        call.asked = False  # it died just now: there may be another one, or one is to be started
        return False
    except (OSError, ValueError, OutOfTimeError):
        call.late = True
        return False
    finally:
        if connection is not None:
            connection.close()


def is_inside() -> bool:
    """Tell whether memfs itself runs the assistant that calls."""
    return not _INSIDE.isdisjoint(system.environ)


def exchange_frames(
    connection: Connection, question: bytes, deliver: "Callable[[bytes], object] | None" = None
) -> bytes | None:
    """Return the answer, delivered before it is confirmed; None: the client's work."""
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
    kind: str, words: list[str], body: bytes, environ: "Mapping[bytes, bytes] | None" = None
) -> bytes:
    """Return the frame of a question; its environment is that of this process by default."""
    lines = [each.encode("utf-8", "surrogateescape") for each in (PROTOCOL, "-", VERSION)]
    lines += [encode_environment(environ), kind.encode()]
    lines += [word.encode("utf-8", "surrogateescape") for word in words]
    return b"\n".join(line.replace(b"\n", b"\r") or b" " for line in lines) + b"\n\n" + body


def encode_environment(environ: "Mapping[bytes, bytes] | None" = None) -> bytes:
    """Return the variables that must be equal for one process to answer for another."""
    if environ is None:
        import os

        environ = {os.fsencode(name): os.fsencode(value) for name, value in os.environ.items()}
    found = [
        name + b"=" + value
        for name, value in environ.items()
        if (name in _OURS or name.startswith(b"MEMFS_")) and name not in _OF_ONE_SESSION
    ]
    return b"\0".join(sorted(found)).replace(b"\n", b"\r") or b" "


def ask(
    kind: str,
    words: list[str],
    body: bytes = b"",
    wait: float = QUICK,
    deliver: "Callable[[bytes], object] | None" = None,
    call: "HookCall | None" = None,
    *,
    long_lived: bool = False,
) -> bytes | None:
    """Ask the service; None if there is none, it is too slow, or it leaves the work to the client.

    `deliver` is called with the answer before it is confirmed. A service that died is restarted,
    but not for `status` or `stop`. `call` is marked if the service is late. `long_lived`: this
    process does not end soon.
    """
    try:
        connection = connect(wait)
        if connection is None:
            return None
        try:
            return exchange_frames(connection, format_question(kind, words, body), deliver)
        finally:
            connection.close()
    except GoneError:
        if kind not in _NO_START:
            _revive(words[0] if kind == "hold" and words else "", long_lived=long_lived)
        return None
    except OSError:
        if call is not None:
            call.late = True
        return None


def is_listening() -> bool:
    """Tell whether a service listens, or has listened, where no other user can."""
    return _is_private_socket(_encode_address())


def connect(wait: float) -> Connection | None:
    """Connect to the service; None if there is none. Raises `OSError`, `GoneError` if it died."""
    return _connect(_encode_address(), wait)


def address() -> str:
    """Return the address of this user's service: a socket's path."""
    import os

    from memfs.store import store_paths

    path = store_paths.user_root() + NAME
    if len(os.fsencode(path)) <= LONGEST_PATH:
        return path
    from hashlib import sha256  # for a long path alone

    return f"/tmp/memfs-{os.getuid()}/{sha256(os.fsencode(path)).hexdigest()[:24]}.sock"  # noqa: S108


def start_service(folder: str = "", *, wait: bool = False) -> bool:
    """Start the service of this user; False if it is disabled, or its files cannot be written.

    It begins with the store that serves `folder`, if one is given. One that runs already, or was
    just started by another process, is left alone. `wait`: this process does not end soon.
    """
    import os

    from memfs.files import child_process
    from memfs.store import blocks, config, store_paths

    user = store_paths.user_store()
    place = blocks.Place(None, user)
    if user is None or blocks.find_off_switch(place):
        return False
    if config.load(place).get("service.mode") != "auto":
        return False
    from memfs.core.errors import MemfsError  # it is running, mostly
    from memfs.store import lock  # likewise

    try:
        claimed = lock.claim_lock(user, LOCK, child_process.FIRST_FILE)
    except (MemfsError, OSError):  # it cannot be written, or leads out of the store
        return False
    if claimed is None:
        return True
    try:
        words = [str(child_process.FIRST_FILE), folder]
        return child_process.spawn_detached(
            "memfs.service.server", words, user.local, wait=wait, given=claimed, worked=folder
        )
    finally:
        os.close(claimed)


def wake_service(folder: str) -> None:
    """Have the service hold the store of a folder: for a process that asks it later."""
    if ask("hold", [folder]) is None and not is_listening():
        start_service(folder, wait=True)


def set_clock(seconds: int) -> None:
    """Raise OutOfTimeError here after `seconds` (0: never)."""
    import _signal  # `signal` wraps it in enums, which cost 3 ms

    _signal.signal(_signal.SIGALRM, _raise_timeout)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def write(data: bytes) -> None:
    """Print the answer of a hook."""
    rest = memoryview(data)
    while rest:
        rest = rest[system.write(1, rest) :]


def _find_usual_path() -> bytes:
    """Return the path of the socket as the environment has it; b"" if it is not a usual one."""
    environ: Mapping[bytes, bytes] = system.environ
    root = environ.get(b"MEMFS_HOME") or environ.get(b"HOME", b"") + b"/.agent-memory"
    path = root + NAME.encode()
    return path if path[:1] == b"/" and len(path) <= LONGEST_PATH else b""


def _read_stdin() -> bytes:
    parts: list[bytes] = []
    room = MOST_INPUT
    while room >= 0:
        more = system.read(0, 1 << 18)
        if not more:
            return b"".join(parts)
        parts.append(more)
        room -= len(more)
    while system.read(0, 1 << 18):  # to the end: a closed pipe would be an error for the host
        pass
    raise ValueError(
        f"standard input is larger than {MOST_INPUT >> 20} MB; no text was added to the prompt"
    )


def _raise_timeout(_signal: int, _frame: object) -> None:
    raise OutOfTimeError("the hook ran out of time; no text was added to the prompt")


def _is_private_socket(path: bytes) -> bool:
    """Tell whether a path is a socket of this user, in a folder that nobody else can write to.

    A link is not followed: it may lead to another program of this user, and comes with a repository
    or an archive, which a socket does not.
    """
    try:
        folder, status = system.lstat(path.rpartition(b"/")[0]), system.lstat(path)
    except OSError:
        return False
    return (
        {folder.st_uid, status.st_uid} == {system.getuid()}
        and folder.st_mode & _KIND_AND_OTHERS == _FOLDER
        and status.st_mode & _KIND == _SOCKET
    )


def _encode_address() -> bytes:
    import os

    return os.fsencode(address())


def _connect(path: bytes, wait: float) -> Connection | None:
    if not _is_private_socket(path):
        return None
    import _socket  # where there is a service

    began = time.monotonic()
    connected = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connected.settimeout(wait)
        connected.connect(path)
    except ConnectionRefusedError:
        connected.close()
        raise GoneError("the service is not running") from None
    except BaseException:
        connected.close()
        raise
    left = wait + began - time.monotonic()
    return Connection(connected, left)  # type: ignore[arg-type]  # it is what `socket.socket` wraps


def _revive(folder: str, *, long_lived: bool) -> None:
    """Restart the service if it died, with the store of `folder` ("": of this directory)."""
    try:
        connection = connect(QUICK)
    except GoneError:
        start_service(folder or _get_cwd(), wait=long_lived)
    except OSError:
        return
    else:
        if connection is not None:
            connection.close()


def _get_cwd() -> str:
    try:
        return system.getcwd()
    except OSError:  # the folder was removed
        return ""
