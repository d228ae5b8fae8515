"""`memfs trust` is for people."""

import sys
from pathlib import Path

import pytest

from memfs.store import store_paths
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.terminal import type_into


@pytest.mark.parametrize(
    "variable",
    [
        "CLAUDE_CODE_SESSION_ID",
        "CODEX_SESSION_ID",
        "COPILOT_AGENT_SESSION_ID",
        "GEMINI_CLI",
        "OPENCODE",
    ],
)
def test_the_shell_of_an_assistant_cannot_trust_a_store(
    memfs: Run, place: Place, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    assert place.project
    memfs("trust", "--revoke")
    for name in ("trust", "trust --yes"):
        with monkeypatch.context() as assistant:
            assistant.setenv(variable, "1")
            refused = memfs(*name.split())
        assert refused.code == 1
        assert "only a person can trust a store" in refused.err
        refused = memfs(*name.split(), stdin="y\n")
        assert refused.code == 1
        assert "only a person at a terminal can trust" in refused.err
    code, _ = type_into([sys.executable, "-m", "memfs", "trust"], "n\n", Path.cwd())
    assert (code, store_paths.is_trusted(place.project)) == (130, False)
    code, shown = type_into([sys.executable, "-m", "memfs", "trust"], "y\n", Path.cwd())
    assert (code, store_paths.is_trusted(place.project)) == (0, True)
    assert shown.index("persona") < shown.index("Let your assistants use this memory?")


def test_what_blocks_enforce_is_shown_and_accepted(memfs: Run, place: Place) -> None:
    assert place.project
    block = Path(place.project.root, "blocks/push.md")
    block.write_text("---\nenforce: deny\ncommands: git push\n---\nOnly CI pushes.\n")
    waits = "project:push (deny: git push); to enforce the rule, run memfs trust"
    assert waits in " ".join(memfs("status").out.split())
    assert memfs("trust").code == 1, "a person decides it, at a terminal"
    code, shown = type_into([sys.executable, "-m", "memfs", "trust"], "y\n", Path.cwd())
    assert code == 0
    assert "! project:push: deny: git push" in shown
    assert "Enforce these rules?" in shown
    assert "not enforced" not in memfs("status").out
    assert "no changes by others" in memfs("trust").err
