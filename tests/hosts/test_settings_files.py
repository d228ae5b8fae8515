"""Other people's settings files: what install writes, what uninstall leaves, what it never touches."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memfs import hosts
from memfs.core.errors import StoreError
from memfs.hosts import jsonc_edit
from memfs.ops import install
from memfs.ops.install import SettingsEdit
from memfs.store.blocks import Place
from tests.hosts.reading import FIXTURES


class Sample(NamedTuple):
    """A settings file as people have them; `refused` is a part of why nothing may be written.

    A path begins at the project's folder in the scopes project and local, else at the home folder.
    """

    name: str
    host: str
    scope: str
    path: str
    text: str
    refused: str


LINES = (FIXTURES / "settings.jsonl").read_text().splitlines()
SAMPLES = {each.name: each for each in (Sample(**json.loads(line)) for line in LINES)}
KEPT = {name: each for name, each in SAMPLES.items() if not each.refused}
REFUSED = {name: each for name, each in SAMPLES.items() if each.refused}
SCAFFOLD = {"version": 1, "$schema": "https://opencode.ai/config.json"}


class File:
    """A sample on the disk, with all that its host is wired by."""

    def __init__(self, sample: Sample, place: Place, repo: Path, home: Path) -> None:
        self.path = (home if sample.scope == "user" else repo) / sample.path
        self._sample, self._place, self._home = sample, place, home
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.write(sample.text)

    def write(self, text: str) -> None:
        self.path.write_bytes(text.encode())

    @property
    def text(self) -> str:
        return self.path.read_bytes().decode()

    def run(self, **options: Any) -> SettingsEdit:
        """Wire or unwire the host; return what happened to this file."""
        host, scope = self._sample.host, self._sample.scope
        done = install.run(self._place, host, scope, str(self._home), **options)
        [ours] = [each for each in done if each.path == str(self.path)]
        return ours


@pytest.fixture
def file(sample: Sample, place: Place, repo: Path, home: Path) -> File:
    return File(sample, place, repo, home)


def value_of(path: Path, text: str) -> object:
    """Read settings: of comments alone, or of nothing, there are none."""
    if path.suffix == ".toml":
        return tomllib.loads(text.removeprefix("\ufeff"))
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except ValueError:
        bare = [
            line
            for line in text.splitlines()
            if line.strip() and line.strip()[:2] not in ("//", "/*")
        ]
        return jsonc_edit.loads(text) if bare else {}


def ours(value: object) -> bool:
    return "memfs" in json.dumps(value, default=str)


def only_added(before: object, after: object, where: str = "") -> None:
    """Assert that all of `before` is in `after` as it was, and that what was added is ours."""
    if isinstance(before, dict) and isinstance(after, dict):
        assert [key for key in after if key in before] == list(before), where
        for key, value in after.items():
            if key in before:
                only_added(before[key], value, f"{where}.{key}")
            else:
                assert ours({key: value}) or SCAFFOLD.get(key) == value, f"{where}.{key}"
    elif isinstance(before, list) and isinstance(after, list):
        assert [item for item in after if item in before or not ours(item)] == before, where
    else:
        assert json.dumps(before, default=str) == json.dumps(after, default=str), where


def applied(text: str, diff: str) -> str:
    """Apply a unified diff."""
    old = [line + "\n" for line in text.split("\n")]
    old[-1] = old[-1][:-1]
    new: list[str] = []
    at = 0
    lines = diff.split("\n")[2:-1] if diff else []
    for number, line in enumerate(lines):
        bare = number + 1 < len(lines) and lines[number + 1][:1] == "\\"
        said = line[1:] + ("" if bare else "\n")
        if line[:2] == "@@":
            first, _, count = line.split()[1][1:].partition(",")
            start = int(first) - (count != "0")
            new += old[at:start]
            at = start
        elif line[:1] in (" ", "-"):
            assert old[at] == said, line
            new += [said] if line[:1] == " " else []
            at += 1
        elif line[:1] == "+":
            new.append(said)
    return "".join(new + old[at:])


def letters(text: str) -> str:
    """What is left of a text without white space and commas."""
    return "".join(text.replace(",", "").split())


def commands(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        command = value.get("command")
        if isinstance(command, str) and "memfs_hook.py" in command:
            yield command
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from commands(each)


@pytest.mark.parametrize("sample", KEPT.values(), ids=KEPT)
def test_ours_go_in_once_and_out_again_it_has_the_bytes_it_had(file: File, sample: Sample) -> None:
    shown = file.run(dry_run=True)
    assert file.text == sample.text
    assert file.run().outcome == "updated"
    after = file.text
    assert applied(sample.text, shown.diff) == after
    found = value_of(file.path, after)
    only_added(value_of(file.path, sample.text), found)
    assert ours(found)
    hooks = found.get("hooks", {}) if isinstance(found, dict) else {}
    for event, entries in hooks.items():
        assert len(list(commands(entries))) <= 1, event
    left = iter(letters(after))
    assert all(letter in left for letter in letters(sample.text)), "in the order it was"
    assert file.run().outcome == "unchanged"
    assert file.text == after
    shown = file.run(remove=True, dry_run=True)
    assert applied(after, shown.diff) == sample.text
    file.run(remove=True)
    assert file.text == sample.text
    assert file.run(remove=True).outcome == "unchanged"


@pytest.mark.parametrize("sample", KEPT.values(), ids=KEPT)
def test_what_the_host_rewrote_meanwhile_means_what_it_meant(file: File, sample: Sample) -> None:
    before = value_of(file.path, sample.text)
    file.run()
    found = value_of(file.path, file.text)
    if file.path.suffix == ".toml":
        later = '\n[hooks.state."x"]\ntrusted_hash = "sha256:1"\n'
        file.write(file.text + later)
        before = {**tomllib.loads(sample.text.removeprefix("\ufeff")), **tomllib.loads(later)}
    else:
        file.write(json.dumps(found, indent=4))
    assert file.run().outcome == "unchanged", "it is still wired"
    file.run(remove=True)
    left = value_of(file.path, file.text)
    assert json.dumps(left, default=str) == json.dumps(before, default=str)


@pytest.mark.parametrize("sample", KEPT.values(), ids=KEPT)
def test_what_a_person_changed_meanwhile_stays_and_so_does_all_else(
    file: File, sample: Sample
) -> None:
    note = "\n# later\n" if file.path.suffix == ".toml" else "\n// later\n"
    file.run()
    file.write(file.text + note)
    file.run(remove=True)
    left = file.text
    assert left.endswith(note)
    only_added(value_of(file.path, sample.text), value_of(file.path, left))
    bare = letters(sample.text)
    nothing = "" if value_of(file.path, sample.text) or "{" in bare else "{}"
    assert letters(left) in (bare + letters(note), bare + nothing + letters(note))


@pytest.mark.parametrize("sample", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_written_back_is_refused_and_nothing_is_written(
    file: File, sample: Sample, repo: Path
) -> None:
    there = sorted(file.path.parent.iterdir())
    with pytest.raises(StoreError) as raised:
        file.run()
    assert sample.refused in f"{raised.value.message} {raised.value.hint}"
    if file.path.suffix == ".json":
        with pytest.raises(StoreError):
            file.run(remove=True)
    assert file.text == sample.text
    assert sorted(file.path.parent.iterdir()) == there


@pytest.fixture
def plain(place: Place, repo: Path, home: Path) -> File:
    return File(SAMPLES["comment first"], place, repo, home)


def test_a_mode_stays(plain: File) -> None:
    for mode in (0o600, 0o640, 0o664):
        plain.path.chmod(mode)
        for remove in (False, True):
            plain.run(remove=remove)
            assert plain.path.stat().st_mode & 0o777 == mode


@pytest.mark.usefixtures("bound")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_is_read_only_is_refused_before_anything_is_written(
    plain: File, repo: Path, what: str
) -> None:
    shut = plain.path if what == "file" else plain.path.parent
    mode = shut.stat().st_mode
    shut.chmod(mode & ~0o222)
    before = plain.text
    assert plain.run(dry_run=True).outcome == "updated"
    with pytest.raises(StoreError, match=f"cannot write .*: {shut} is read-only"):
        plain.run()
    assert (plain.text, (repo / ".mcp.json").exists()) == (before, False)
    shut.chmod(mode)
    plain.run()
    shut.chmod(mode & ~0o222)
    assert plain.run().outcome == "unchanged", "there is nothing to write"
    with pytest.raises(StoreError, match="is read-only"):
        plain.run(remove=True)
    shut.chmod(mode)


def test_a_file_that_is_too_large_to_be_read_whole_is_refused(plain: File) -> None:
    plain.write('{"a": 1}' + " " * (8 << 20))
    with pytest.raises(StoreError, match="bytes, the limit is 8,388,608"):
        plain.run()


def test_a_file_we_made_goes_also_if_its_host_rewrote_it(
    place: Place, repo: Path, home: Path
) -> None:
    for host in hosts.NAMES:
        done = install.run(place, host, "project", str(home))
        for each in map(Path, (wired.path for wired in done)):
            if each.suffix == ".json":
                each.write_text(json.dumps(json.loads(each.read_text())))
            elif each.suffix == ".toml":
                each.write_text(each.read_text() + "\n\n")
    for host in hosts.NAMES:
        install.run(place, host, "project", str(home), remove=True)
    assert sorted(path.name for path in repo.iterdir()) == [".agent-memory", ".git"]


def test_what_is_there_after_an_update_of_a_rewritten_file_is_still_known(plain: File) -> None:
    """An update writes entries anew: what the file held before we came is not forgotten."""
    plain.write('{"hooks": {"Stop": []}}')
    plain.run()
    for _ in range(2):
        plain.write(json.dumps(json.loads(plain.text), indent=1).replace(" mcp 2>", " 2>"))
        assert plain.run().outcome == "updated"
    plain.run(remove=True)
    assert json.loads(plain.text) == {"hooks": {"Stop": []}}


def test_what_a_person_deleted_meanwhile_does_not_come_back(plain: File) -> None:
    plain.run()
    plain.path.unlink()
    plain.run()
    plain.run(remove=True)
    assert not plain.path.exists()
