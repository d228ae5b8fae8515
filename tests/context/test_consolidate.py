"""Cluttered blocks, made tidy by rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.context.consolidate import consolidate_text
from memfs.context.line_keys import read_key
from memfs.context.statements import fold_statement, read_statement
from tests.core.samples import examples


def test_of_two_values_the_later_one_counts() -> None:
    assert (
        consolidate_text("Editor: vim\nName: Alice\neditor: helix\n")
        == "editor: helix\nName: Alice\n"
    )


def test_what_is_said_twice_comes_once() -> None:
    body = "- We deploy with Helm.\n- Tests need Docker.\n- We deploy with Helm!\n"
    assert consolidate_text(body) == "- We deploy with Helm.\n- Tests need Docker.\n"


@pytest.mark.parametrize(
    ("body", "tidy"),
    [
        ("- one\n- two\n- three\n- One.\n- two\n", "- one\n- two\n- three\n"),
        ("- one\n- two\n```\nx\n```\n- four\n\n- one\n", "- one\n- two\n```\nx\n```\n- four\n"),
        ("## A\n- one\n## B\n- two\n## A\n- three\n- one\n", "## A\n- one\n- three\n## B\n- two\n"),
        ("## A\n- one\n## B\n- two\n## A\n- one\n", "## A\n- one\n## B\n- two\n"),
        (
            "We deploy with Helm.\n# Notes\n- a\n- We deploy with Helm.\n",
            "We deploy with Helm.\n# Notes\n- a\n",
        ),
    ],
)  # fmt: skip
def test_duplicates_need_not_stand_side_by_side(body: str, tidy: str) -> None:
    assert consolidate_text(body) == tidy


def test_other_numbers_are_another_thing() -> None:
    body = "- The API listens on port 8080.\n- The API listens on port 9090.\n"
    assert consolidate_text(body) == body


def test_headings_that_become_empty_go() -> None:
    body = "- so it is said\n\n\n\n# All\n## One\n- So it is said.\n\n## Two\n\n## Three\n- other\n"
    assert consolidate_text(body) == "- so it is said\n\n# All\n## Two\n\n## Three\n- other\n"
    body = "- so it is said\n# All\n## One\n- so it is said\n"
    assert consolidate_text(body) == "- so it is said\n"


@pytest.mark.parametrize(
    ("body", "tidy"),
    [
        ("Uses pytest for tests\nWe use pytest for the tests\n", "Uses pytest for tests\n"),
        ("- User prefers `tabs`\n- Prefers tabs.\n", "- User prefers `tabs`\n"),
    ],
)
def test_nearly_the_same_words_come_once(body: str, tidy: str) -> None:
    assert consolidate_text(body) == tidy


@pytest.mark.parametrize(
    ("body", "tidy"),
    [
        (
            "- Works at Acme\n- Likes hiking\n- Changed jobs to B\n- Changed jobs to C.\n",
            "- Works at C\n- Likes hiking\n",
        ),
        ("Employer: Acme\nChanged jobs to Beta\n", "Employer: Beta\n"),
        ("Lives in Berlin.\nNow lives in New York\n", "Lives in New York.\n"),
        (
            "- I prefer Python\n- Actually, I prefer Go\n- Actually I prefer Rust now\n",
            "- I prefer Rust (earlier: Go, Python)\n",
        ),
        ("Ana works at Acme\nAna works at Beta now\n", "Ana works at Beta\n"),
    ],
)
def test_a_line_that_ends_an_earlier_one_gives_it_its_value(body: str, tidy: str) -> None:
    assert consolidate_text(body) == tidy


@pytest.mark.parametrize(
    ("body", "tidy"),
    [
        (
            "## A\n\n- one\n\n## B\n\n- two\n\n## A\n\n- three\n",
            "## A\n\n- one\n- three\n\n## B\n\n- two\n",
        ),
        (
            "# P\n## A\n- x\n### S\n- s\n## B\n- b\n## A\n- y\n### S\n- t",
            "# P\n## A\n- x\n- y\n### S\n- s\n- t\n## B\n- b\n",
        ),
        ("## A\nWe deploy with Helm.\n## A\n- two\n", "## A\nWe deploy with Helm.\n\n- two\n"),
        ("## A\n## B\n- one\n## A\n- two\n", "## A\n- two\n## B\n- one\n"),
    ],
)
def test_equal_headings_become_one_section(body: str, tidy: str) -> None:
    assert consolidate_text(body) == tidy


@pytest.mark.parametrize(
    "body",
    [
        "# P\n## A\n- one\n# Q\n## A\n- two\n",
        "## A\n- one\n### A\n- two\n",
        "## A\n- one\n\n---\n## A\n- two\n",
        "## A\n- one\n## A\n1. two\n",
        "## A\n- one\n## A\n```\nx\n```\n",
        "## A\nFor Bob:\n- one\n## A\n- two\n",
        "## Note\n- one\n## Note\n- two\n",
        "## Person\nName: Alice\n## Person\nName: Bob\n",
    ],
)
def test_equal_headings_of_two_things_stay(body: str) -> None:
    assert consolidate_text(body) == body


@pytest.mark.parametrize(
    "body",
    [
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
    ],
)
def test_what_may_be_about_two_things_stays(body: str) -> None:
    assert consolidate_text(body) == body


@pytest.mark.parametrize(
    "body",
    [
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
def test_where_it_is_not_clear_that_one_ends_another_both_stay(body: str) -> None:
    assert consolidate_text(body) == body


def test_text_before_a_rule_stays_where_what_follows_goes() -> None:
    body = "Uses pytest for tests\n\nName: Alice\n---\nUses pytest for tests\n"
    assert consolidate_text(body) == "Uses pytest for tests\n\nName: Alice\n---\n"


def test_code_stays_as_it_is() -> None:
    code = "```sh\nmake all\n\n\n\n# One\n\n# Two\nmake all\n```\n"
    assert consolidate_text(f"- so it is\n- so it is\n{code}") == f"- so it is\n{code}"


def test_a_tidy_block_stays_as_it_is() -> None:
    body = "# All\n\n\n\n- one\n\n## Empty\n"
    assert consolidate_text(body) == body


@given(
    st.lists(
        st.sampled_from(
            [
                "- one\n",
                "a: 1\n",
                "a: 2\n",
                "# h\n",
                "## g\n",
                "\n",
                "text\n",
                "a b c\n",
                "---\n",
                "x:\n",
                "```\n",
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
def test_no_line_vanishes_that_no_other_one_says_or_ends(lines: list[str]) -> None:
    body = "\n".join([*lines, ""])
    out = consolidate_text(body)
    assert consolidate_text(out) == out
    kept = out.split("\n")
    for at, line in enumerate(lines):
        statement = read_statement(line)
        values = {(each.about, each.value) for each in map(read_statement, kept) if each}
        assert (
            fold_statement(line)[1] in {fold_statement(each)[1] for each in kept}
            or line.startswith("#")  # it is empty now
            or (read_key(line) and _names_later_value(line, lines[at + 1 :], kept))
            or (statement and _is_ended(line, lines[at + 1 :], values))
        ), line
    assert [line for line in kept if line.startswith(("1", "|", "<", "`", "-" * 3))] == [
        line for line in lines if line.startswith(("1", "|", "<", "`", "-" * 3))
    ]


def _names_later_value(line: str, later: list[str], kept: list[str]) -> bool:
    return any(read_key(each) == read_key(line) and each in kept for each in later)


def _is_ended(line: str, later: list[str], values: set[tuple[tuple[str, str], str]]) -> bool:
    """Tell whether a later line changes what one states, or the value of one is in what stays."""
    one = read_statement(line)
    others = [each for each in map(read_statement, later) if each]
    return one is not None and (
        (one.about, one.value) in values
        or any(each.about == one.about and each.changes for each in others)
    )
