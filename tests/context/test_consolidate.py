"""Cluttered blocks, made tidy by rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.context.consolidate import consolidate_text
from tests.examples import examples

CODE = "```sh\nmake all\n\n\n\n# One\n\n# Two\nmake all\n```\n"


@pytest.mark.parametrize(
    ("body", "tidy"),
    [
        (
            "- We deploy with Helm.\n- Tests need Docker.\n- We deploy with Helm!\n",
            "- We deploy with Helm.\n- Tests need Docker.\n",
        ),
        ("- one\n- two\n- three\n- One.\n- two\n", "- one\n- two\n- three\n"),
        ("- one\n- two\n```\nx\n```\n- four\n\n- one\n", "- one\n- two\n```\nx\n```\n- four\n"),
        ("Name: Alice\nEditor: vim\nName: Alice\n", "Name: Alice\nEditor: vim\n"),
        (
            "We deploy with Helm.\n# Notes\n- a\n- We deploy with Helm.\n",
            "We deploy with Helm.\n# Notes\n- a\n",
        ),
        # A heading stays where what stood below it goes; of two blank lines one goes.
        (
            "- so it is said\n\n\n\n# All\n## One\n- So it is said.\n\n## Two\n- other\n",
            "- so it is said\n\n\n\n# All\n## One\n\n## Two\n- other\n",
        ),
        ("- so it is said\n# All\n## One\n- so it is said\n", "- so it is said\n# All\n## One\n"),
        ("- one\n  - below\n- one\n  - below\n", "- one\n  - below\n"),
        ("- one\n\n- two\n\n- one\n\n- three\n", "- one\n\n- two\n\n- three\n"),
        (
            "Uses pytest for tests\n\nName: Alice\n---\nUses pytest for tests\n",
            "Uses pytest for tests\n\nName: Alice\n---\n",
        ),
        (f"- so it is\n- so it is\n{CODE}", f"- so it is\n{CODE}"),
    ],
)
def test_what_is_said_twice_comes_once(body: str, tidy: str) -> None:
    assert consolidate_text(body) == tidy


@pytest.mark.parametrize(
    "body",
    [
        "- The API listens on port 8080.\n- The API listens on port 9090.\n",
        "# All\n\n\n\n- one\n\n## Empty\n",
        *("# P\n## A\n- one\n# Q\n## A\n- two\n", "## A\n- one\n### A\n- two\n"),
        *("## A\n- one\n\n---\n## A\n- two\n", "## A\n- one\n## A\n1. two\n"),
        *("## A\n- one\n## A\n```\nx\n```\n", "## A\nFor Bob:\n- one\n## A\n- two\n"),
        *("## Note\n- one\n## Note\n- two\n", "## Person\nName: Alice\n## Person\nName: Bob\n"),
        "## A\n- one\n## B\n- two\n## A\n- three\n- one\n",
        "## Alice\n- Role: developer\n## Bob\n- Role: operations\n",
        "Alice\n- Role: developer\nBob\n- Role: operations\n",
        "Name: Alice\nRole: developer\nName: Bob\nRole: operations\n",
        "- TODO: write the parser\n- TODO: rotate the keys\n",
        "- Always deploy on Friday.\n- Never deploy on Friday.\n",
        "- It accepts deploys.\n- It does not accept deploys.\n",
        "## Alice\n- She prefers tabs.\n## Bob\n- She prefers tabs.\n",
        "# Languages\n- Python\n## To learn\n- Python\n- Rust\n",
        "Name: Alice\nRole: developer\n\n---\nName: Bob\nRole: developer\n",
        "Name: Alice\n```\nx\n```\nName: Alice\n",
        "- Or run this\n```\nx\n```\n- Or run this\n```\ny\n```\n",
        "Alice:\n- likes green tea\nBob:\n- likes green tea\n",
        "Alice\n- likes green tea\nBob\n- likes green tea\n",
        "- Alice\n- Likes green tea\n- Bob\n- Likes green tea\n",
        "Name: Alice\nLikes tea\nName: Bob\nLikes tea\n",
        "**Alice**\n- likes green tea\n\n**Bob**\n- likes green tea\n",
        "- Neo4j\n  - has a name\n  - has a port\n- Redis\n  - has a name\n  - has a port\n",
        "- id: a\n  type: x\n- id: b\n  type: x\n",
        "Server: a\nServer: b\nServer: c\n",
        "1. Build it all\n2. Build it all\n",
        "<step>\nBuild it.\n</step>\n<step>\nTest it.\n</step>\n",
        "| a | b |\n|---|---|\n| a | b |\n",
        "Notes of May\n---\nWe sold it.\n\nNotes of May\n---\nWe bought it.\n",
        "Uses C\nUses C++\nUses C#\n",
        "`-v` prints more\n`-V` prints more\n",
        "Ignore .env there\nIgnore env there\n",
        "Deploys on Friday?\nDeploys on Friday\n",
        "I use tabs\nWe use tabs\n",
        "Works at Acme Corp\n---\nWorks at Acme Corp\n",
        "Name: Alice\n\nName: Alice\nx:\n===\n",
        "Role: developer\nName: Alice\nRole: developer\nName: Bob\n",
        "- Alice\n- Knows all of Go\n- Bob\n- Knows all of Go\n",
        "Servers we own\n\n- one in Rome\n\nServers we rent\n\n- one in Rome\n",
        "- [ ] ship it now\n- [x] ship it now\n",
        "- See [the docs](a.md).\n- See [the docs](b.md).\n",
        "````\n```\nx y z\nx y z\n```\n````\n",
        "Editor: vim\neditor: helix\n",
        "Uses pytest for tests\nWe use pytest for the tests\n",
        "- I prefer Python\n- Actually, I prefer Go\n",
        "Works at Acme\nWorks at Beta\n",
        "Works at Acme\nWorks at Beta\nChanged jobs to Gamma\n",
        "Works at Acme as an engineer\nChanged jobs to Beta\n",
        "Works at Acme\nChanged jobs to Beta as of May\n",
        "Name: Alice\nWorks at Acme\nName: Bob\nChanged jobs to Beta\n",
        "- Alice\n- Works at Acme\n- Bob\n- Changed jobs to Beta\n",
        "Alice works at Acme\nBob changed jobs to Beta\n",
        "## Alice\nWorks at Acme\n## Bob\nChanged jobs to Beta\n",
        "Prefers Python\nPrefers TypeScript\n",
        "Prefers dark mode\nPrefers TypeScript now\n",
        "Prefers dark mode\nLikes hiking\nActually prefers TypeScript now\n",
        "Prefers dark mode\nPrefers Python\nActually prefers TypeScript now\n",
        "Prefers Python\nActually prefers not to say\n",
        "Uses Docker\nNow uses Kubernetes\n",
        "Changed jobs to Beta\nWorks at Acme\n",
        "Prefers Python\nActually prefers Go now\nPrefers Python\n",
    ],
)
def test_what_may_be_about_two_things_stays(body: str) -> None:
    assert consolidate_text(body) == body


@given(
    st.lists(
        st.sampled_from(
            [
                *("- one\n", "a: 1\n", "a: 2\n", "# h\n", "## g\n", "\n", "text\n", "a b c\n"),
                *("---\n", "x:\n", "```\n"),
            ]
        )
    )
)
@examples(100)
def test_it_is_tidy_afterwards(lines: list[str]) -> None:
    once = consolidate_text("".join(lines))
    assert consolidate_text(once) == once
    assert set(once.split()) <= set("".join(lines).split())


LINES = [
    *("# Me", "## Tools", "## Tools", "## People", "Name: Alice", "Name: Bob", "Editor: vim"),
    *("Editor: helix", "Prefers Python", "Actually prefers Go now", "Works at Acme Corp", "Alice"),
    *("Changed jobs to Beta Inc", "Uses pytest for tests", "We use pytest for the tests", "", "x:"),
    *("- Uses pytest for tests", "- Lives in Rome", "- Now lives in Oslo", "  - below", "1. one"),
    *("```", "---", "- **Editor**", "| a |", "<b>", "- one", "- One.", "Note: so", "Note: or so"),
]


@given(st.lists(st.sampled_from(LINES)))
@examples(300)
def test_no_line_vanishes_that_no_other_one_says(lines: list[str]) -> None:
    body = "\n".join([*lines, ""])
    out = consolidate_text(body)
    assert consolidate_text(out) == out
    kept = out.split("\n")
    left = iter(lines)
    assert all(line in left for line in kept if line)  # in their order
    assert {_fold(line) for line in lines} - {""} == {_fold(line) for line in kept} - {""}
    for odd in ("1", "|", "<", "`", "-" * 3, "#"):
        assert [line for line in kept if line.startswith(odd)] == [
            line for line in lines if line.startswith(odd)
        ]


def _fold(line: str) -> str:
    return line.removeprefix("- ").rstrip(".").casefold()
