"""What a developer asks weeks later is answered by the hook alone, with the real program."""

import os
from pathlib import Path

from tests.e2e import remembered
from tests.e2e.program import hook, run


def test_the_answer_reaches_the_prompt(repo: Path, home: Path) -> None:
    os.chdir(repo)
    assert run(repo, "init")[0] == 0
    remembered.write(home, repo)
    assert run(repo, "ingest")[0] == 0
    run(repo, "search", "anything")  # what has no vectors yet gets them
    for number, (prompt, answer) in enumerate(remembered.ANSWERS.items()):
        session = f"later-{number}"
        given = hook(repo, "SessionStart", session=session)
        given += hook(repo, "UserPromptSubmit", session=session, prompt=prompt)
        assert [each for each in answer if each not in given] == [], prompt
        assert "past-" in given or "hetzner" in given
    assert (
        hook(repo, "UserPromptSubmit", session="later-0", prompt="paint a fence in two colours")
        == ""
    )
