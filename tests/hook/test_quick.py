"""The launcher in Perl asks as the one in Python does, and leaves to that what is not answered."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memfs.ops.install import commands
from memfs.store import asking, shipped
from memfs.store.asking import Line

LONG = 10.0  # seconds
LAUNCHER = Path(shipped.path("hooks", "memfs_hook.pl"))
BODY = '{"prompt": "größer"}'.encode() + b"\xff\n\n\0"
Answer = Callable[[Line], object]

pytestmark = pytest.mark.skipif(not os.access("/usr/bin/perl", os.X_OK), reason="needs Perl")


class Asked:
    """A socket where the service would listen, and what comes in there."""

    def __init__(self, user: Path) -> None:
        self.local = user / "local"
        self.local.mkdir(mode=0o700)
        self.frames: list[bytes] = []
        self.taken: list[bool] = []
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self.local / "service.sock"))
        self._listening.listen()
        self._threads: list[threading.Thread] = []

    def answer(self, give: Answer) -> None:
        """Answer the next who asks."""
        thread = threading.Thread(target=self._once, args=(give,))
        thread.start()
        self._threads.append(thread)

    def close(self) -> None:
        for thread in self._threads:
            thread.join(LONG)
        self._listening.close()

    def _once(self, give: Answer) -> None:
        connected = self._listening.accept()[0]
        line = Line(connected, LONG)
        try:
            self.frames.append(line.receive())
            give(line)
            self.taken.append(line.taken())
        except OSError:  # who asked, asks no more
            return
        finally:
            line.close()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="memfs-") as folder:
        monkeypatch.setenv("MEMFS_HOME", folder)
        made = Asked(Path(folder))
        yield made
        made.close()


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A program in Python's place: says with which words it was started, and its stdin."""
    path = tmp_path / "python"
    path.write_text(
        '#!/bin/sh\nshift 4\necho "python $*"\necho "${PERL_BADLANG-}" | tr -d "\\n"\nexec cat\n'
    )
    path.chmod(0o755)
    return path


def words(python: Path, *more: str) -> list[str]:
    return ["/usr/bin/perl", "-C0", str(LAUNCHER), str(python), *(more or ("claude", "mcp"))]


def run(command: list[str], stdin: bytes = BODY) -> bytes:
    """Return what a hook prints; it fails by nothing, and says nothing on stderr."""
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def saying(answer: bytes) -> Answer:
    return lambda line: line.send(answer)


def hang(_line: Line) -> None:
    time.sleep(0.5)


def break_off(line: Line) -> None:
    line._socket.sendall((100).to_bytes(4, "big") + b"+half")
    line._socket.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEMFS_MAX_BLOCKS", "20"), ("MEMFS_SESSION", "s1"), ("TZ", "Asia/Tokyo"), ("TZDIR", "/x"),
        ("MEMFS_ODD\nNAME", "a\nb"), ("MEMFS_ODD", "größer"), ("PERL_UNICODE", "SDA"),
        ("PERL5LIB", "/nowhere"),
    ],
)  # fmt: skip
def test_it_asks_what_the_other_asks(
    service: Asked, monkeypatch: pytest.MonkeyPatch, python: Path, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    told = ("claude", "größer", "", "a\nb")
    for command in (words(python, *told), commands.python(*told)):
        service.answer(saying(b"+ "))
        assert run(command) == b" "
    quick, slow = (frame.split(b"\n", 6) for frame in service.frames)
    assert quick[:5] == slow[:5]
    assert float(quick[5]) >= 0
    assert quick[6] == slow[6]
    assert quick[6].endswith(b"\n\n" + BODY)


@pytest.mark.parametrize("size", [0, 1, 100_000, 5_000_000])
def test_an_answer_is_printed_and_then_taken(service: Asked, python: Path, size: int) -> None:
    answer = os.urandom(size)
    service.answer(saying(b"+" + answer))
    assert run(words(python)) == answer
    service.close()
    assert service.taken == [True]


def test_an_answer_that_nobody_reads_is_not_taken(service: Asked, python: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    service.answer(lambda line: line.send(b"+told"))
    done = subprocess.run(words(python), input=BODY, stdout=writer, stderr=-1, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
    service.close()
    assert service.taken == [False]


@pytest.mark.parametrize(
    ("give", "said"),
    [
        (saying(asking.YOURS), "asked claude mcp"), (saying(asking.LEAVING), "asked claude mcp"),
        (saying(b""), "asked claude mcp"), (hang, "asked claude mcp"), (break_off, "claude mcp"),
    ],
    ids=["leaves it", "is older", "says nothing", "hangs", "dies"],
)  # fmt: skip
@pytest.mark.parametrize("size", [0, 200_000])
def test_what_is_not_answered_is_pythons_with_all_of_stdin(
    service: Asked, python: Path, give: Answer, said: str, size: int
) -> None:
    """The word says that asking once more is of no use."""
    service.answer(give)
    stdin = BODY + b"x" * size
    began = time.monotonic()
    assert run(words(python), stdin) == f"python {said}\n".encode() + stdin
    assert time.monotonic() - began < LONG / 2


def test_the_other_launcher_does_not_ask_again(service: Asked) -> None:
    service.answer(saying(asking.YOURS))
    assert run(commands.perl("claude"), b'{"hook_event_name": "Stop"}') == b""
    service.close()
    assert len(service.frames) == 1


def test_where_nobody_listens_stdin_is_not_touched(service: Asked, python: Path) -> None:
    service.close()
    assert run(words(python)) == b"python claude mcp\n" + BODY
    shutil.rmtree(service.local)
    assert run(words(python)) == b"python claude mcp\n" + BODY
    os.environ["MEMFS_HOME"] += "/" + "long" * 25
    assert run(words(python)) == b"python claude mcp\n" + BODY


def test_what_others_may_write_to_is_not_asked(service: Asked, python: Path) -> None:
    service.local.chmod(0o777)
    assert run(words(python)) == b"python claude mcp\n" + BODY


@pytest.mark.parametrize("launcher", ["perl", "python"])
def test_a_link_to_another_socket_is_not_asked(service: Asked, python: Path, launcher: str) -> None:
    """Through one, a prompt would go to whatever else this user has that listens."""
    socket_file = service.local / "service.sock"
    other = service.local.parent / "agent.sock"
    socket_file.rename(other)
    socket_file.symlink_to(other)
    service._listening.setblocking(False)
    if launcher == "perl":
        assert run(words(python)) == b"python claude mcp\n" + BODY
    else:
        assert run(commands.python("claude"), b'{"hook_event_name": "Stop"}') == b""
    with pytest.raises(BlockingIOError):
        service._listening.accept()


def test_what_is_too_large_and_what_comes_late_comes_to_python(
    service: Asked, python: Path, tmp_path: Path
) -> None:
    service.answer(hang)
    parts = [b"x" * 600_000, b"y" * 10, b"z" * 300_000]
    with (
        (tmp_path / "out").open("w+b") as out,
        subprocess.Popen(words(python), stdin=-1, stdout=out, stderr=out) as process,
    ):
        assert process.stdin
        for part in parts:
            process.stdin.write(part)
            process.stdin.flush()
            time.sleep(0.1)
        process.stdin.close()
        assert process.wait(LONG) == 0
        out.seek(0)
        assert out.read() == b"python claude mcp\n" + b"".join(parts)


def test_a_host_that_keeps_its_pipe_open_is_pythons(service: Asked, python: Path) -> None:
    """Who measures how long that may be."""
    service.answer(hang)
    with subprocess.Popen(words(python), stdin=-1, stdout=-1) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"first")
        process.stdin.flush()
        assert process.stdout.readline() == b"python asked claude mcp\n"
        assert process.stdout.read(5) == b"first"
        process.stdin.write(b" and last")
        process.stdin.close()
        assert process.stdout.read() == b" and last"


def test_a_service_that_lets_nobody_in_costs_a_moment(service: Asked, python: Path) -> None:
    service._listening.listen(0)
    waiting = []
    try:
        while True:
            one = socket.socket(socket.AF_UNIX)
            waiting.append(one)
            one.setblocking(False)
            try:
                one.connect(str(service.local / "service.sock"))
            except BlockingIOError:
                break
        took = []
        for _ in range(3):
            began = time.monotonic()
            assert run(words(python)) == b"python claude mcp\n" + BODY
            took.append(time.monotonic() - began)
        assert min(took) < 0.9
    finally:
        for one in waiting:
            one.close()


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="needs Linux")
def test_no_process_is_left_to_be_waited_for(service: Asked, python: Path) -> None:
    listed = "/proc/$$/task/$$/children"
    python.write_text(f'#!/bin/sh\nread -r children <{listed}\necho "<$children>"\nexec cat\n')
    service.answer(saying(asking.YOURS))
    assert run(words(python)) == b"<>\n" + BODY


def test_in_assistants_that_memfs_runs_it_keeps_still(
    service: Asked, python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(asking.INSIDE, "1")
    assert run(words(python)) == b""
    assert service.frames == []


def test_a_python_that_is_gone_disturbs_nobody(service: Asked, tmp_path: Path) -> None:
    service.answer(saying(asking.YOURS))
    assert run(words(tmp_path / "gone")) == b""


def test_it_is_strict_and_loads_no_module() -> None:
    done = subprocess.run(
        ["/usr/bin/perl", "-Mstrict", "-Mwarnings=FATAL,all", "-c", str(LAUNCHER)],
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.stderr.decode() == f"{LAUNCHER} syntax OK\n"
    code = f"print join ' ', keys %INC; @ARGV = ('/nowhere'); do '{LAUNCHER}'; print keys %INC"
    assert run(["/usr/bin/perl", "-C0", "-e", code]) == str(LAUNCHER).encode()


def test_it_knows_what_the_other_knows() -> None:
    text = LAUNCHER.read_text(encoding="utf-8")
    named = f"'{asking.PROTOCOL}', '{asking.NO_TOKEN}', '{asking.VERSION}'"
    for known in (named, asking.NAME, f"'{asking.ASKED}'", f"$ENV{{{asking.INSIDE}}}"):
        assert known in text
    assert f"my $left = {asking.QUICK};" in text
    assert f"length $path > {asking.LONGEST_PATH};" in text
    assert f"> {asking.MOST_INPUT >> 10} << 10;" in text
    assert f"alarm {asking.TIMEOUT};" in text


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, python: Path) -> Callable[[], bytes]:
    """What the command that hosts are given runs, with the program in Python's place."""
    monkeypatch.setattr("sys.executable", str(python))
    return lambda: run(["/bin/sh", "-c", commands.quick("claude", "mcp")])


def test_a_host_starts_perl_where_there_is_a_socket(
    service: Asked, shown: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "xx_YY.UTF-8")  # of which Perl would warn
    service.answer(saying(b"+told"))
    assert shown() == b"told"
    service.answer(saying(asking.YOURS))
    assert shown() == b"python asked claude mcp\n" + BODY
    monkeypatch.setenv("PERL5OPT", "-Mstrict")
    assert shown() == b"python claude mcp\n" + BODY
    monkeypatch.delenv("PERL5OPT")
    monkeypatch.setenv("PERL_HASH_SEED_DEBUG", "1")
    assert shown() == b"python claude mcp\n" + BODY
    monkeypatch.delenv("PERL_HASH_SEED_DEBUG")
    shutil.rmtree(service.local)
    assert shown() == b"python claude mcp\n" + BODY


def test_a_perl_that_went_is_not_missed(
    service: Asked, shown: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    perl = tmp_path / "perl"
    perl.symlink_to("/usr/bin/perl")
    monkeypatch.setattr(commands, "_PERL", str(perl))
    service.answer(saying(b"+told"))
    assert shown() == b"told"
    command = commands.quick("claude", "mcp")
    assert command != commands.hook("claude", "mcp")
    assert run(["/bin/sh", "-c", command.replace(".pl", ".gone")]) == b"python claude mcp\n" + BODY
    perl.unlink()
    assert run(["/bin/sh", "-c", command]) == b"python claude mcp\n" + BODY
    assert commands.quick("claude", "mcp") == commands.hook("claude", "mcp")


def test_a_socket_that_is_elsewhere_is_not_looked_for(
    service: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMFS_HOME", f"{service.local}/{'long' * 25}")
    assert commands.perl("claude") == []
