"""What contradicts itself after a merge is named by status and doctor."""

from __future__ import annotations

from pathlib import Path

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ops import doctor, edit, status
from memfs.store.blocks import Place


def test_two_ports_of_one_service(place: Place, home: Path) -> None:
    for line in ("- the API listens on port 8080", "- the API listens on port 9090"):
        edit.run(place, [Append("system_rules", line)], Origin())
    found = status.run(place, str(home)).contradictions
    assert found == (("system_rules", "8080", "9090"),)
    [told] = [each for each in doctor.run(place, str(home)) if "8080 and 9090" in each.text]
    assert told.level == "warning"
    assert told.hint == "delete the outdated one: memfs edit system_rules"


def test_a_block_that_agrees_with_itself_is_fine(place: Place, home: Path) -> None:
    edit.run(place, [Append("system_rules", "- the API listens on port 8080")], Origin())
    assert status.run(place, str(home)).contradictions == ()
