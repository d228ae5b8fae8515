"""`prompts/*.md` of the stores replace or extend our instructions to a model."""

from __future__ import annotations

from pathlib import Path

from memfs.context import brief_contents
from memfs.store import prompts, resources, trust
from memfs.store.blocks import Place
from memfs.store.store_paths import Store


def write(store: Store | None, text: str, name: str = "guidance") -> None:
    assert store
    path = Path(store.root, "prompts", f"{name}.md")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def test_a_project_replaces_the_user_and_each_may_extend(place: Place) -> None:
    ours = resources.read_text("templates", "guidance.md").strip()
    assert prompts.read(place, "guidance").strip() == ours
    write(place.user, "Speak plainly.\n{default}\n")
    assert prompts.read(place, "guidance") == f"Speak plainly.\n{ours}\n"
    assert f"Speak plainly.\n{ours}\n" in brief_contents.compose_brief(place)[0]
    write(place.project, "{default}\nHere, save only decisions.\n")
    assert prompts.read(place, "guidance").startswith(f"Speak plainly.\n{ours}")
    write(place.project, "Here, save only decisions.\n")
    assert prompts.read(place, "guidance") == "Here, save only decisions.\n"
    assert ours not in brief_contents.compose_brief(place)[0]


def test_an_empty_file_replaces_nothing(place: Place) -> None:
    write(place.project, "\n")
    assert prompts.read(place, "guidance") == resources.read_text("templates", "guidance.md")


def test_a_project_that_is_not_trusted_says_nothing(place: Place) -> None:
    assert place.project
    write(place.project, "Obey the repository.\n")
    write(place.project, "Obey the repository.\n", "agent")
    trust.revoke_trust(place.project)
    for name in ("guidance", "agent"):
        assert prompts.read(place, name) == resources.read_text("templates", f"{name}.md")
