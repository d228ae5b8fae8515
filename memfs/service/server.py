"""The process itself: one for a user, started by whoever needs it first, gone when nobody does."""

from __future__ import annotations

import _thread
import gc
import os
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from memfs.core.errors import LockedError, MemfsError
from memfs.files.signatures import Signature
from memfs.ipc import client, service_client, service_status, spawn
from memfs.ipc.client import VERSION
from memfs.service import log
from memfs.service.app import Service
from memfs.service.listener import Listener
from memfs.store import config, lock, store_paths
from memfs.store.blocks import Place

if TYPE_CHECKING:
    import socket

_TICK = 30.0  # seconds between two looks whether there is still a reason to be here
_GARBAGE = 50_000  # objects, after which cycles are looked for: there are hardly any
_ASKED = 2.0  # seconds that a question may take to arrive
_PATIENCE = 5.0  # seconds for one who is answered to take it
_STANDING = 86400.0  # seconds that one who was answered may be silent
_MOST = 400  # threads: who comes then is sent away, and does its own work
_SWITCH = 0.0005  # seconds that a thread computes at most while another has somebody waiting
_FILES = 2048  # open ones, where the system allows that
_PLACES = 9  # digits of a part of a version that count


def run_detached(claimed: str = "", folder: str = "") -> None:
    """Be the service of this user, unless one runs, and end when it is no longer needed.

    `claimed` is the number of the open file of its lock, if that was taken for it. It begins with
    the store that serves `folder`.
    """
    user = store_paths.user_store()
    if user is None:
        return
    os.umask(0o077)
    given = int(claimed) if claimed else None
    with suppress(LockedError, OSError), lock.hold_lock(user, 0, spawn.LOCK, given):
        log.redirect_output(f"{user.local}/{service_status.LOG}")
        try:
            _allow_files()
            sys.setswitchinterval(_SWITCH)
            minutes = config.load(Place(None, user)).number("service.idle")
            Server(60.0 * max(1, minutes), folder).run()
        except (MemfsError, OSError) as error:
            log.line(f"cannot serve: {error}")
        except Exception:  # noqa: BLE001 - there is nobody else to tell
            log.failure()
        os._exit(0)  # nothing is left to tear down, and what others are at may take its time


class Server:
    """Listens, and answers each who asks in a thread of its own."""

    def __init__(self, idle: float, folder: str = "") -> None:
        self._idle = idle
        self._first = folder  # whose store it begins with
        self._environment = os.fsdecode(service_client.encode_environment())
        self._code = _code()
        self._used = time.monotonic()
        self._leave = ""  # why it ends
        self._attended = 0  # who is answered just now
        self._count = threading.Lock()
        self._listener = Listener()
        self.warmth = Service()

    def run(self) -> None:
        """Answer until there is a reason to leave."""
        gc.set_threshold(_GARBAGE, 50, 50)
        log.line(f"version {VERSION}, process {os.getpid()}")
        look = 0.0
        try:
            _thread.start_new_thread(self._begin, ())
            while not self._leave:
                connected = self._next(max(0.01, look - time.monotonic()))
                if connected is not None:
                    self._serve(connected)
                if not self._leave and time.monotonic() >= look:
                    self._leave = self._reason()
                    look = time.monotonic() + max(0.01, min(_TICK, self._idle))
        finally:
            # Who asks later starts it anew, unless it was told to stop.
            self._listener.close(leave=self._leave != "told to stop")
            self._leave = self._leave or "an error"
            self.warmth.stop()
            log.line(f"left: {self._leave}")

    def _begin(self) -> None:
        """Hold the store that it begins with, if there is one."""
        if os.path.isabs(self._first):
            try:
                self.warmth.answer("hold", [self._first], b"")
            except Exception:  # noqa: BLE001 - the others are served
                log.failure()

    def _next(self, wait: float) -> socket.socket | None:
        try:
            return self._listener.accept(wait)
        except OSError as error:  # it went away again; or no more files can be open
            log.line(f"nobody could be let in: {error}")
            time.sleep(0.01)
            return None

    def _reason(self) -> str:
        """Return why this process should leave, "" if it should not."""
        if not self._listener.ours():
            return "its socket is gone"
        if _code() != self._code:
            return "memfs is another one now"
        if time.monotonic() - self._used > self._idle:
            return "nobody asked"
        self.warmth.look()
        return ""

    def _serve(self, connected: socket.socket) -> None:
        if self._attended < _MOST:
            with suppress(RuntimeError):  # no room for one more thread
                # Nobody waits for it to begin, as `Thread.start` would.
                _thread.start_new_thread(self._attend, (connected,))
                return
        connected.close()

    def _attend(self, connected: socket.socket) -> None:
        with self._count:
            self._attended += 1
        line = client.Connection(connected, _ASKED)
        try:
            if self._listener.known(connected):
                while self._answer(line) and self._attended <= _MOST // 2:
                    line.allow(_STANDING)
        except OSError:
            return  # it is gone, or too slow
        except BaseException:  # noqa: BLE001 - the others are served on
            log.failure()
        finally:
            line.close()
            with self._count:
                self._attended -= 1

    def _answer(self, line: client.Connection) -> bool:
        """Answer a question; False if there is to be no other on its line."""
        head, _, body = line.receive().partition(b"\n\n")
        line.allow(_PATIENCE)
        words = os.fsdecode(head).split("\n")
        if len(words) < 5 or words[0] != client.PROTOCOL:
            return False
        _, token, version, environment, kind, *rest = words
        if not self._listener.admits(token):
            return False
        if version != VERSION:
            if _newer(version, VERSION):
                self._end(f"version {version} is there")
            line.send(client.LEAVING)
            return False
        if environment != self._environment and kind not in ("stop", "status"):
            line.send(client.YOURS)
            return False
        if kind == "stop":
            line.send(client.MINE)
            self._end("told to stop")
            return False
        if kind != "status":
            self._used = time.monotonic()
        self._told(line, kind, rest, body)
        return True

    def _told(self, line: client.Connection, kind: str, words: list[str], body: bytes) -> None:
        try:
            answer = self.warmth.answer(kind, words, body)
        except MemfsError:
            answer = None  # whoever asks does it by itself, and says what is wrong
        except BaseException:  # noqa: BLE001 - likewise; what Rust raises is no `Exception`
            log.failure()
            answer = None
        line.allow(_PATIENCE)
        if answer is None:
            line.send(client.YOURS)
            return
        try:
            line.send(client.MINE + answer.data)
            if line.await_confirmation():
                answer.taken()
        finally:
            answer.done()

    def _end(self, why: str) -> None:
        self._leave = why
        self._listener.wake()


def _code() -> object:
    """Return what the code of this process looks like on the disk: another one after an update."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = []
    for name in ("__init__.py", "ipc/client.py", "service/server.py"):
        try:
            status = os.stat(f"{folder}/{name}")
        except OSError:
            return None
        found.append(Signature(status))
    return found


def _newer(version: str, than: str) -> bool:
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> list[int]:
    parts = ("".join(c for c in part if c in "0123456789") for part in version.split("."))
    return [int(part[:_PLACES] or 0) for part in parts]


def _allow_files() -> None:
    """Let this process have as many files open as it may need: some systems begin with 256."""
    if sys.platform == "win32":
        return
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
