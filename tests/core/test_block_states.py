"""The states of a block, and lines of it that contradict each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core import block_states, body_edits
from memfs.core.block_states import Contradiction, find_contradicted, find_contradictions
from memfs.core.body_edits import Remove, Replace
from tests.examples import examples

NOW = "2026-05-03T10:00:00Z"


@pytest.mark.parametrize(
    ("value", "operation", "state"),
    [
        ("", "", "empty"),
        (" \n", "append", "empty"),
        ("x", "", "populated"),
        ("x", "create", "populated"),
        ("x", "append", "populated"),
        ("x", "insert", "populated"),
        ("x", "replace", "modified"),
        ("x", "rethink", "modified"),
        ("x", "patch", "modified"),
        ("x", "remove", "reduced"),
        ("", "remove", "empty"),
    ],
)
def test_content(value: str, operation: str, state: str) -> None:
    assert block_states.describe_content(value, operation) == state


@pytest.mark.parametrize(
    ("updated_at", "state"),
    [
        (NOW, "active"),
        ("2026-04-03T10:00:01Z", "active"),
        ("2026-04-03T10:00:00Z", "stale"),
        ("2026-04-03T12:00:00+02:00", "stale"),
        ("2026-04-03", "stale"),
        ("2026-04-04", "active"),
        ("2027-01-01T00:00:00Z", "active"),
        ("", "active"),
        ("yesterday", "active"),
        ("2026-13-99", "active"),
    ],
)
def test_freshness(updated_at: str, state: str) -> None:
    assert block_states.freshness(updated_at, NOW, 30) == state


@given(st.text() | st.datetimes(timezones=st.timezones()).map(str))
def test_freshness_never_fails(updated_at: str) -> None:
    assert block_states.freshness(updated_at, NOW, 30) in {"active", "stale"}
    assert block_states.freshness(NOW, updated_at, 30) in {"active", "stale"}


NEAR = st.sampled_from(["- Port: 8080 (b)", "- Port: 80", "  - Port: 80", "```", "# A", "", "80"])
MANY = "Likes Pet Colleague Server Lesson Preference Correction User Open Step Issue PR #".split()
VALUES = st.text(alphabet="ab 12.-", min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("- port 8080\n- port 9090\n", [("8080", "9090")]),
        (
            "The API listens on port 8080.\nOther.\nthe API listens on port 9090\n",
            [("8080", "9090")],
        ),
        ("timeout: 30s\nretries: 3\ntimeout: 60s\n", [("30s", "60s")]),
        ("python = 3.11\npython = 3.12\n", [("3.11", "3.12")]),
        ("- port 8080\n- port 8080\n", []),
        ("- step 1\n- step 2\n- step 3\n", []),
        ("8080\n9090\n", []),
        ("User works at Acme as engineer\n- Works at Beta Inc now.\n", [("acme", "beta inc")]),
        ("Lives in Lyon\nI live in Nantes\nlives in Nantes since May\n", [("lyon", "nantes")]),
        ("Works at Acme until 2023\nWorks at Beta since 2023\n", []),
        ("Lives in Lyon on weekdays\nLives in Nantes on weekends\n", []),
        ("Works at Acme and Beta\nWorks at Beta\n", []),
        ("Works at Acme\nWorks at Acme Inc\n", []),
        ("- Ann\n  - Works at Acme\n- Bob\n  - Works at Beta\n", []),
        ("Works at Acme\nWorks at night\nworks at Acme, in sales\n", []),
        ("port 8080 of api\nport 9090 of web\n", []),
        ("range 10 to 20\nrange 10 to 30\n", []),
        ("# API\n- port: 8080\n# Web\n- port: 9090\n", []),
        ("# API\n- port: 8080\ntext\n- port: 9090\n", [("8080", "9090")]),
        ("```\nlex: word1\nlex: word2\n```\n", []),
        ("", []),
    ],
)
def test_the_same_of_another_value(text: str, values: list[tuple[str, str]]) -> None:
    assert [(each.one, each.other) for each in find_contradictions(text)] == values


@pytest.mark.parametrize(
    ("before", "added", "lines"),
    [
        ("Name: Alice\n", "Name: Bob", [(1, "Name: Alice")]),
        ("Team: x\n- name: Al\n", "Name: Alice", [(2, "- name: Al")]),
        ("- port 8080\n", "- port 9090", [(1, "- port 8080")]),
        ("Name: Alice\n", "Editor: Helix", []),
        ("My editor: Helix\n", "- my Editor: vim.", [(1, "My editor: Helix")]),
        ("# Ann\nName: Ann\n\nCity: Rome\n", "City: Oslo", [(4, "City: Rome")]),
        ("- Ann\n  Name: Ann\n- Bob\n", "  Name: Bob", []),
        ("- Ann\n  - name: Ann\n", "  - name: Anna", [(2, "- name: Ann")]),
        ("Port: 80 (staging)\n", "Port: 81 (live)", []),
        ("Email: a@b.example for work\n", "Email: c@d.example for friends", []),
        ("PR 12 merged\n", "PR 13 merged", []),
        ("Fixed bug #123\n", "Fixed bug #456", []),
        ("Meeting 2024-05-01 with Bob\n", "Meeting 2024-05-08 with Bob", []),
        ("- gym: 30 min\n", "- gym: 45 min", []),
        ("User: prefers vim\n", "User: lives in Rome", []),
        ("Colleague: Al\nColleague: Bo\n", "Colleague: Cy", []),
        ("# Ann\nJob: QA\n", "# Bob\nJob: lead", []),
        ("Ann\n---\nJob: QA\n", "Bob\n---\nJob: lead", []),
        ("Ann:\n- job: QA\n", "\nBob:\n- job: lead", []),
        ("see https://a.example\n", "see https://b.example", []),
    ],
)
def test_an_added_line_names_the_one_that_it_contradicts(
    before: str, added: str, lines: list[tuple[int, str]]
) -> None:
    found = find_contradicted("human", before.rstrip("\n"), f"{before}{added}")
    assert [(each.number, each.text) for each in found] == lines


@given(st.lists(NEAR, max_size=5), st.lists(NEAR, max_size=5), st.sampled_from(["\n", "\r\n"]))
@examples(200)
def test_the_edit_that_is_named_removes_the_line(
    above: list[str], below: list[str], eol: str
) -> None:
    before = "\n".join([*above, "# Here", "- Port: 80", *below, "text"])
    after = f"{before}\n- Port: 443\n"
    for each in find_contradicted("user:human", before, after):
        body = after.replace("\n", eol)
        done = body_edits.apply(Replace(each.label, each.old, each.new), body, eol)
        lines = body.splitlines(keepends=True)
        del lines[each.number - 1]
        assert done == "".join(lines)
        if not each.new:
            assert body_edits.apply(Remove(each.label, each.old), body, eol) == done


@given(st.sampled_from(MANY), st.sampled_from(["{}: {}", "- {}: {}", "{} {}"]), VALUES, VALUES)
@examples(100)
def test_what_may_be_many_is_no_contradiction(name: str, line: str, one: str, two: str) -> None:
    before = line.format(name, one) + "\n"
    assert find_contradicted("human", before, before + line.format(name, two)) == []


def test_the_lines_are_named() -> None:
    text = "Notes\n\nport 8080\nsomething\nport 9090\n"
    assert find_contradictions(text) == [Contradiction(3, 5, "8080", "9090")]
