"""A tidier text for a block, from a model or without duplicate lines."""

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ops import edit
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.agent.conftest import Use
from tests.agent.scripted_endpoint import Asked, Raw, Say
from tests.cli.conftest import Run

TIDY = (
    "'human' has no duplicate lines; to let a model rewrite it, set 'llm' in your configuration\n"
)


def clutter(memfs: Run) -> None:
    lines = ("Name: Alice", "Editor: vim", "editor: helix", "Lives in Rome", "Lives in Rome.")
    memfs("edit", "human", "--set", "\n".join(lines))


def test_seed_001_cluttered_example(use: Use, memfs: Run, place: Place) -> None:
    """The example of `memory_rethink`, word for word: a model says what holds now."""
    cluttered = (
        "Name: Alice",
        "Prefers Python",
        "Actually prefers TypeScript now",
        "Works at Acme Corp",
        "Changed jobs to Beta Inc",
        "Likes hiking",
    )
    for line in cluttered:
        memfs("edit", "human", "--append", line)
    assert memfs("rethink", "human").err == TIDY
    tidy = "Name: Alice\nPrefers TypeScript (earlier: Python)\nWorks at Beta Inc\nLikes hiking"
    asked = use([Say(f"```\n{tidy}\n```")])
    assert memfs("rethink", "human").out == (
        "--- a/human\n+++ b/human\n@@ -1,6 +1,4 @@\n Name: Alice\n"
        "-Prefers Python\n-Actually prefers TypeScript now\n-Works at Acme Corp\n"
        "-Changed jobs to Beta Inc\n"
        "+Prefers TypeScript (earlier: Python)\n+Works at Beta Inc\n Likes hiking\n"
    )
    prompt = str(asked[0].body["messages"])
    assert all(line in prompt for line in (*cluttered, "At most 5,000 characters"))
    assert "proposed by" not in memfs("rethink", "human", "--apply").err
    assert blocks.get(place, "human").value == tidy
    assert memfs("rethink", "human").err == "'human' is already tidy\n"


def test_rules_propose_and_what_is_applied_is_an_edit(memfs: Run, place: Place) -> None:
    clutter(memfs)
    shown = memfs("rethink", "human")
    assert shown.out == (
        "--- a/human\n+++ b/human\n@@ -2,4 +2,3 @@\n Editor: vim\n editor: helix\n"
        " Lives in Rome\n-Lives in Rome.\n"
    )
    assert shown.err == "proposed by rules, no model; to save: memfs rethink human --apply\n"
    assert "Rome." in blocks.get(place, "human").value
    shown = memfs("rethink", "human", "--apply")
    assert "✓ user:human version 3: rethink, 51 of 5,000 characters" in shown.err
    assert blocks.get(place, "human").value == (
        "Name: Alice\nEditor: vim\neditor: helix\nLives in Rome"
    )
    assert memfs("rethink", "human").err == TIDY


def test_a_model_that_fails_is_done_without_and_rules_are_not_applied_in_its_place(
    use: Use, memfs: Run, place: Place
) -> None:
    clutter(memfs)
    use([Raw(400, '{"error": {"message": "no"}}')])
    shown = memfs("rethink", "human")
    assert "-Lives in Rome." in shown.out
    assert "answers with status 400: no" in shown.err
    assert "proposed by rules, no model" in shown.err
    assert memfs("rethink", "human", "--apply").code == 1
    assert "Rome." in blocks.get(place, "human").value
    assert memfs("rethink", "human", "--apply", "--no-model").code == 0
    assert "Rome." not in blocks.get(place, "human").value


def test_an_edit_made_meanwhile_is_not_overwritten(use: Use, memfs: Run, place: Place) -> None:
    clutter(memfs)

    def rule(_: Asked) -> Say:
        edit.run(place, [Append("human", "IMPORTANT")], Origin("user"))
        return Say("Alice uses helix.")

    use(rule)
    shown = memfs("rethink", "human", "--apply")
    assert shown.code == 1
    assert "read the changed block again" in shown.err
    assert "IMPORTANT" in blocks.get(place, "human").value
