"""Files that were broken by hand: read as well as they can be, edited without losing a byte, mended."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from memfs import files
from memfs.core import frontmatter
from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ops import brief, doctor, edit, undo
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.ops.mutations import broken

MANAGED = (b"version", b"updated_at", b"updated_by")
ADDED = "a line that was added"


def lay_out(place: Place, made: Sequence[tuple[str, bytes]]) -> dict[str, tuple[Path, str, bytes]]:
    """Write broken files as blocks; map each label to (path, how it was made, bytes)."""
    folder = Path(place.home.root, "blocks")
    laid = {}
    for number, (how, data) in enumerate(made):
        path = folder / f"broken-{number}.md"
        path.write_bytes(data)
        laid[path.stem] = (path, how, data)
    return laid


def unmanaged(text: bytes) -> list[bytes]:
    """Return the lines of front matter but for its fences and what every edit may set."""
    lines = [line.strip(b" \t\r\xef\xbb\xbf") for line in text.split(b"\n")]
    return [line for line in lines if line not in (b"", b"---") and not line.startswith(MANAGED)]


def check_edit(place: Place, label: str, path: Path, data: bytes) -> bool:
    """Append a line: nothing else may change, and an undo gives the bytes back."""
    outcome = edit.run(place, [Append(label, ADDED)], Origin())
    if not isinstance(outcome, edit.Edited):
        assert path.read_bytes() == data
        return False
    assert outcome.entries[0].op == "append"
    after = path.read_bytes()
    head, body = map(files.encode, frontmatter.split(data.decode("utf-8", "surrogateescape")))
    added = ADDED.encode()
    ends = [
        body + added + b"\n",
        body + added + b"\r\n",
        body + b"\n" + added,
        body + b"\r\n" + added,
    ]
    [end] = [end for end in ends if after.endswith(end)]
    new_head = after.removesuffix(end)
    if not head.lstrip(b"\xef\xbb\xbf-\r\n \t").startswith(b"{"):
        left = unmanaged(new_head)
        assert all(line in left for line in unmanaged(head))
    undo.undo_edit(place, label, Origin())
    assert path.read_bytes() == data
    return True


def check_fix(place: Place, home: str, laid: dict[str, tuple[Path, str, bytes]]) -> int:
    """Mend all: a second time there is nothing to do, and each undo gives the bytes back."""
    before = {label: data for label, (_, _, data) in laid.items()}
    fixed = doctor.fix(place, home)
    assert all(found.level == "ok" for found in fixed), fixed
    assert not doctor.fix(place, home)
    changed = 0
    for label, (path, how, data) in laid.items():
        if path.read_bytes() == before[label]:
            continue
        changed += 1
        [note] = [found for found in fixed if found.text.startswith(f"project:{label}: ")]
        assert Path(note.hint.removeprefix("the old file was saved as ")).read_bytes() == data, how
        if blocks.get(place, label).read_only:
            continue
        undo.undo_edit(place, label, Origin())
        assert path.read_bytes() == data, how
    assert changed == len(fixed)
    return changed


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 6))]
)
def test_broken_files_go_through_everything(place: Place, home: Path, seed: int) -> None:
    laid = lay_out(place, list(broken(60, seed)))
    session = Place(place.project, place.user, "s")
    assert "Core memory" in brief.start(session).context
    assert brief.prompt(session, "hello there").context == ""
    found = doctor.run(place, str(home))
    assert any(finding.level == "error" for finding in found)
    assert all(path.read_bytes() == data for path, _, data in laid.values())
    edited = 0
    for label, (path, how, data) in laid.items():
        try:
            edited += check_edit(place, label, path, data)
        except BaseException as error:
            error.add_note(how)
            raise
    assert edited > len(laid) / 3
    assert check_fix(place, str(home), laid) > 3
    doctor.run(place, str(home))
