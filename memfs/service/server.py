"""The service process: one for a user, started by its first client, ended when it is unused."""

import _thread
import gc
import os
import resource
import select
import socket
import stat
import struct
import sys
import threading
import time
from contextlib import suppress

from memfs import files, hosts
from memfs.core.errors import LockedError, MemfsError, StoreError
from memfs.files import atomic
from memfs.files.signatures import Signature
from memfs.ipc import client, service_status
from memfs.ipc.client import VERSION
from memfs.service import job_queue
from memfs.service.app import Service
from memfs.store import config, host_folders, lock, store_paths
from memfs.store.blocks import Place

_SOL_LOCAL, _LOCAL_PEERCRED = 0, 1  # of macOS and the BSDs
_CREDENTIALS = "2i"  # version, uid; more follows

_WAITING = 128  # connections that the system queues until we accept them

_TICK = 30.0  # seconds between two checks whether the process should end
_GARBAGE = 50_000  # objects, after which garbage is collected: there are hardly any cycles
_ASKED = 2.0  # seconds that a request may take to arrive
_PATIENCE = 5.0  # seconds that a client may take to receive its answer
_MOST = 400  # threads: further clients are refused, and do their own work
_SWITCH = 0.0005  # seconds that a thread computes before it yields to another
_FILES = 2048  # open files, where the system allows that
_PLACES = 9  # digits of a part of a version that count


def run_detached(claimed: str, folder: str) -> None:
    """Run the service of this user, with its lock `claimed`, and load the store of `folder`."""
    user = store_paths.user_store()
    if user is None:
        return
    os.umask(0o077)
    with suppress(OSError), open("/proc/self/comm", "w", encoding="ascii") as name:  # Linux
        name.write("memfs service")
    host_folders.use_folders(user, hosts.list_folder_variables())
    with suppress(LockedError, OSError), lock.hold_lock(user, 0, client.LOCK, int(claimed)):
        job_queue.redirect_output(f"{user.local}/{service_status.LOG}")
        try:
            _allow_files()
            sys.setswitchinterval(_SWITCH)
            minutes = config.load(Place(None, user)).number("service.idle")
            Server(60.0 * max(1, minutes), folder).run()
        except (MemfsError, OSError) as error:
            job_queue.write_line(f"the service failed: {error}")
        except Exception:  # noqa: BLE001 - the log is the only place for it
            job_queue.failure()
        os._exit(0)  # nothing is left to tear down, and other threads may take long


class Server:
    """Listens, and answers each client in a thread of its own."""

    def __init__(self, idle: float, folder: str = "") -> None:
        self._idle = idle
        self._first = folder  # its store is loaded first
        self._environment = os.fsdecode(client.encode_environment())
        self._code = _get_code_signature()
        self._used = time.monotonic()
        self._leave = ""  # why it ends
        self._active_connections = 0  # number of clients that are connected
        self._count = threading.Lock()
        self._listener = Listener()
        self.service = Service()

    def run(self) -> None:
        gc.set_threshold(_GARBAGE, 50, 50)
        job_queue.write_line(f"version {VERSION}, process {os.getpid()}")
        look = 0.0
        try:
            _thread.start_new_thread(self._load_first, ())
            while not self._leave:
                client_socket = self._accept(max(0.01, look - time.monotonic()))
                if client_socket is not None:
                    self._serve(client_socket)
                if not self._leave and time.monotonic() >= look:
                    self._leave = self._find_leave_reason()
                    look = time.monotonic() + max(0.01, min(_TICK, self._idle))
        finally:
            # The next client starts a new one, unless it was told to stop.
            self._listener.close(leave=self._leave != "asked to stop")
            self._leave = self._leave or "an error"
            self.service.stop()
            job_queue.write_line(f"stopped: {self._leave}")

    def _load_first(self) -> None:
        if os.path.isabs(self._first):
            try:
                self.service.answer("hold", [self._first], b"")
            except Exception:  # noqa: BLE001 - other stores are served
                job_queue.failure()

    def _accept(self, wait: float) -> socket.socket | None:
        try:
            return self._listener.accept(wait)
        except OSError as error:  # the client left again; or no more files can be opened
            job_queue.write_line(f"cannot accept connections: {error}")
            time.sleep(0.01)
            return None

    def _find_leave_reason(self) -> str:
        if not self._listener.is_current():
            return "its socket was removed"
        if _get_code_signature() != self._code:
            return "memfs was changed"
        if time.monotonic() - self._used > self._idle:
            return "idle"
        self.service.check_stores()
        return ""

    def _serve(self, client_socket: socket.socket) -> None:
        if self._active_connections < _MOST:
            with suppress(RuntimeError):  # no room for one more thread
                # `Thread.start` would wait until it has begun.
                _thread.start_new_thread(self._attend, (client_socket,))
                return
        client_socket.close()

    def _attend(self, client_socket: socket.socket) -> None:
        with self._count:
            self._active_connections += 1
        connection = client.Connection(client_socket, _ASKED)
        try:
            if is_same_user(client_socket):
                self._answer(connection)
        except OSError:
            return  # it is gone, or too slow
        except BaseException:  # noqa: BLE001 - the others are served on
            job_queue.failure()
        finally:
            connection.close()
            with self._count:
                self._active_connections -= 1

    def _answer(self, connection: client.Connection) -> None:
        head, _, body = connection.receive().partition(b"\n\n")
        connection.allow(_PATIENCE)
        words = os.fsdecode(head).split("\n")
        if len(words) < 5 or words[:2] != [client.PROTOCOL, "-"]:
            return
        _, _, version, environment, kind, *rest = words
        if version != VERSION:
            if _is_newer(version, VERSION):
                self._end(f"version {version} is installed")
            connection.send(client.LEAVING)
            return
        if environment != self._environment and kind not in ("stop", "status"):
            connection.send(client.YOURS)
            return
        if kind == "stop":
            connection.send(client.MINE)
            self._end("asked to stop")
            return
        if kind != "status":
            self._used = time.monotonic()
        self._send_answer(connection, kind, rest, body)

    def _send_answer(
        self, connection: client.Connection, kind: str, words: list[str], body: bytes
    ) -> None:
        try:
            answer = self.service.answer(kind, words, body)
        except MemfsError:
            answer = None  # the client does it by itself, and shows the error
        except BaseException:  # noqa: BLE001 - likewise; what Rust raises is no `Exception`
            job_queue.failure()
            answer = None
        connection.allow(_PATIENCE)
        if answer is None:
            connection.send(client.YOURS)
            return
        try:
            connection.send(client.MINE + answer.data)
            if connection.await_confirmation():
                answer.taken()
        finally:
            answer.done()

    def _end(self, why: str) -> None:
        self._leave = why
        self._listener.wake()


def _get_code_signature() -> object:
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = []
    for name in ("__init__.py", "ipc/client.py", "service/server.py"):
        try:
            status = os.stat(f"{folder}/{name}")
        except OSError:
            return None
        found.append(Signature(status))
    return found


def _is_newer(version: str, than: str) -> bool:
    return _parse_version(version) > _parse_version(than)


def _parse_version(version: str) -> list[int]:
    parts = ("".join(c for c in part if c in "0123456789") for part in version.split("."))
    return [int(part[:_PLACES] or 0) for part in parts]


def _allow_files() -> None:
    """Raise the limit of open files to what is needed: some systems begin with 256."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Listener:
    """The listening socket. The caller holds the lock of the service."""

    def __init__(self) -> None:
        self.address = client.address()
        self._awake = socket.socketpair()
        self._socket = _listen(self.address)
        self._inode = os.stat(self.address).st_ino

    def accept(self, wait: float) -> socket.socket | None:
        """Return the next connection; None after `wait` seconds or if woken. Raises `OSError`."""
        ready = select.select([self._socket, self._awake[0]], [], [], wait)[0]
        return self._socket.accept()[0] if self._socket in ready else None

    def wake(self) -> None:
        with suppress(OSError):  # nobody waits any more
            self._awake[1].send(b"x")

    def is_current(self) -> bool:
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


def _listen(path: str) -> socket.socket:
    folder = os.path.dirname(path)
    files.make_folder(folder, private=True)
    status = os.lstat(folder)
    if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode):
        raise StoreError(
            f"{folder} is not a folder that you own",
            "make yourself its owner, or remove the folder: the service creates it again",
        )
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
