"""Doctor names what is wrong in the configuration of a place, in variables and in kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs.ops import doctor
from memfs.store.blocks import Place


def warnings(place: Place, home: Path) -> list[str]:
    found = [each.text for each in doctor.run(place, str(home)) if each.level == "warning"]
    return [text for text in found if "is not wired" not in text]


def test_nested_keys_variables_and_kinds(
    place: Place, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert warnings(place, home) == []
    path = Path(place.home.root, "config.yaml")
    path.write_text(
        "memfs: 1\ncontext: {max_tokenz: 1}\nmemory_blocks:\n"
        "  notes: {type: facts, capacty: {max_items: 3}}\n"
        "  more: {type: facts, config: {confidence: 3}}\n"
    )
    monkeypatch.setenv("MEMFS_HOOK_RECALL", "3")
    unknown = "unknown key 'context.max_tokenz'; did you mean max_tokens?"
    assert warnings(place, home) == [
        f"{path}:2: {unknown}",
        "MEMFS_HOOK_RECALL: memfs knows no such variable; did you mean MEMFS_HOOKS_RECALL?",
        "memory_blocks.notes has no capacty (did you mean capacity?)",
        "memory_blocks.more.config has no confidence (did you mean confidence_threshold?)",
    ]
