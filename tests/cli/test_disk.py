"""What is told where a disk is full or may not be written, and where nobody reads the output."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.cli import main
from memfs.ops.doctor import stores
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.faults import harness
from tests.faults.harness import FULL, Fault
from tests.hosts.transcript_lines import conversation

AGAIN = "then run the command again"


@pytest.fixture
def said(tmp_path: Path) -> str:
    """A transcript of a session."""
    path = tmp_path / "said.jsonl"
    path.write_bytes(conversation(3))
    return str(path)


@pytest.mark.parametrize(
    "words",
    [["ingest", "{said}"], ["search", "gophers"], ["create", "x", "y"], ["export", "{out}"]],
)
def test_a_full_disk(
    repo: Path,
    place: Place,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    words: list[str],
) -> None:
    filled = [word.format(said=said, out=repo / "m.zip") for word in words]
    monkeypatch.setattr(sys, "argv", ["memfs", *filled])
    codes: list[int] = []

    def step() -> None:
        codes.append(main.main())
        assert codes == [1]

    result = harness.run(str(repo), [step], Fault(FULL, 1))
    assert (result.status, result.error) == (harness.DONE, "")
    shown = capfd.readouterr().err
    told = rf"error: the disk is full: cannot write {repo}/\S+\nhint: free space on the disk, {AGAIN}\n"
    assert re.fullmatch(told, shown), shown
    assert not [*repo.rglob(".*.tmp")]
    assert main.main() == 0, "there is room again"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO, errno.EINVAL])
def test_a_file_system_without_locks(
    memfs: Run, place: Place, said: str, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    import fcntl

    memfs("create", "x", "y")

    def refuse(handle: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as network:
        network.setattr(fcntl, "flock", refuse)
        for words in (["edit", "x", "--append", "z"], ["ingest", said], ["undo", "x"]):
            done = memfs(*words)
            assert done.code == 1
            assert place.home.local in done.err, done.err
            assert "\nhint: " in done.err
        told = memfs("doctor")
        assert told.code == 1
        assert f"{place.home.local}/lock" in told.out
    assert memfs("edit", "x", "--append", "z").code == 0


@pytest.mark.usefixtures("bound")
def test_a_folder_that_may_not_be_written(
    memfs: Run, place: Place, said: str, tmp_path: Path
) -> None:
    local = Path(place.home.local)
    (local / "index").mkdir(exist_ok=True)
    files = [path for path in local.iterdir() if path.is_file()]
    for path in files:
        path.chmod(0o400)
    local.chmod(0o500)
    try:
        for words in (["search", "gophers"], ["ingest", said], ["create", "x", "y"]):
            done = memfs(*words)
            assert done.code == 1
            told = rf"error: you have no permission to use {local}/\S+\nhint: check .*: ls -la {local}; {AGAIN}\n"
            assert re.fullmatch(told, done.err), done.err
        found = memfs("doctor")
        assert found.code == 1
        assert f"✗ you cannot write to {local}\n" in found.out
        context = memfs("recall", "gophers")
        assert f"you have no permission to use {local}/index.lock" in context.err
    finally:
        local.chmod(0o700)


def test_doctor_sees_a_disk_with_almost_no_room(place: Place) -> None:
    assert list(stores.check_disks(place)) == []
    found = list(stores.check_disks(place, least=1 << 62))
    assert [each.level for each in found] == ["warning"]
    assert re.fullmatch(rf"the disk with {place.home.root} has [\d,.]+ MB left", found[0].text)


@pytest.mark.parametrize("words", [["tools"], ["export", "-"], ["log"]])
def test_nobody_reads_the_output(repo: Path, place: Place, words: list[str]) -> None:
    command = [sys.executable, "-m", "memfs", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        shown = process.stderr.read().decode()
        process.wait()
    assert (process.returncode, shown) == (0, "")


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("words", "streams", "code"),
    [
        ("show", ">&-", 0),
        ("show", "<&- >&- 2>&-", 0),
        ("show", ">/dev/full", 1),
        ("diff", "2>/dev/full", 2),
        ("edit persona --append x", "2>/dev/full", 0),
    ],
)
def test_streams_that_are_closed_or_full(repo: Path, words: str, streams: str, code: int) -> None:
    script = f'exec "$0" -P -m memfs {words} {streams}'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable], cwd=repo, capture_output=True, text=True, check=False
    )
    told = f"error: the disk is full: cannot write a file\nhint: free space on the disk, {AGAIN}\n"
    assert (done.returncode, done.stderr) == (code, told if code == 1 else "")


def test_a_current_index_answers_on_a_read_only_disk(place: Place, memfs: Run, repo: Path) -> None:
    memfs("archive", "add", "The zephyr gateway listens on port 7741.")
    assert "7741" in memfs("search", "zephyr").out
    program = f"exec {sys.executable} -P -m memfs search zephyr"
    script = (
        'mkdir "$1/disk" && mount -t tmpfs none "$1/disk" && cp -a "$1/repo/." "$1/disk"'
        f' && mount --bind "$1/disk" "$1/repo" && mount -o remount,ro,bind "$1/repo" && cd "$1/repo" && {program}'
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", str(repo.parent)],
        env={"PATH": os.environ["PATH"], "HOME": str(Path.home()), "MEMFS_SERVICE_MODE": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip("this account may mount nothing")
    assert place
    assert "7741" in done.stdout, done.stderr
    assert "the disk is read-only" in done.stderr
