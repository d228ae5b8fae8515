"""`memfs trust` is for people."""

from __future__ import annotations

import pytest

from memfs.store.blocks import Place
from tests.cli.conftest import Run


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
    with monkeypatch.context() as assistant:
        assistant.setenv(variable, "1")
        refused = memfs("trust", "--yes")
    assert refused.code == 1
    assert "an assistant cannot trust a store" in refused.err
    assert memfs("trust", "--yes").code == 0
