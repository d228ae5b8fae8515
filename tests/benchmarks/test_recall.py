"""Whether the answer reaches the prompt, measured end to end on scenarios."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import recall, scenarios
from memfs.core.errors import MemfsError

FOLDER = Path(__file__).parent / "scenarios"
SMALL = {
    "project": "small",
    "sessions": [
        {
            "id": "s1",
            "date": "2026-03-02T09:00:00Z",
            "turns": [
                {"role": "user", "text": "the webhook signature check of stripe fails in staging"},
                {"role": "tool", "text": "400 bad signature", "name": "Bash", "input": "make hook"},
                {"role": "assistant", "text": "The stripe webhook signature check needs rawbody."},
            ],
        }
    ],
    "prompts": [
        {
            "id": "p1",
            "text": "the stripe webhook signature check fails in staging, again",
            "kind": "fix",
            "expect": [["rawbody"]],
            "forbid": [],
        },
        {"id": "p2", "text": "paint it blue", "kind": "unrelated", "expect": [], "forbid": []},
    ],
}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_scenarios_are_whole(path: Path) -> None:
    found = scenarios.read(str(path))
    said = {s.id: "\n".join(turn.text for turn in s.turns).lower() for s in found.sessions}
    assert (len(found.sessions), len(found.prompts)) == (20, 45)
    for prompt in found.prompts:
        everything = "\n".join(said.values())
        assert prompt.is_answered(everything) == (prompt.kind != scenarios.UNRELATED)
        assert not prompt.is_answered(prompt.text)
        assert all(text.lower() in everything for text in prompt.forbid)


def test_an_answer_and_what_misleads_are_told_apart() -> None:
    prompt = scenarios.ScenarioPrompt(
        "p", "how many?", "superseded", (("60",), ("per minute", "/min")), ("100",)
    )
    assert prompt.is_answered("it is 60 Per Minute now, no longer 100")
    assert not prompt.is_misled("it is 60 /min now, no longer 100")
    assert prompt.is_misled("it is 100 per minute")
    assert not prompt.is_misled("nothing is known")


def test_a_scenario_is_played_end_to_end(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(SMALL))
    done = CliRunner().invoke(recall.command, [str(path), "--no-service", "--json"])
    assert done.exit_code == 0, done.output
    known, unrelated = json.loads(done.stdout)
    assert (known["id"], known["kind"], known["misled"]) == ("p1", "fix", False)
    assert known["brief"] > 100
    assert (unrelated["answered"], unrelated["silent"], unrelated["reply"]) == (False, True, 0)


DECISIONS = {
    "tasks": [
        {
            "task_id": "jitter",
            "bug_report": "the client retries calls that were refused",
            "policy": "retry 5xx plus 429",
            "sessions": ["old", "new"],
            "source": "conversation-amended",
        }
    ],
    "sessions": [
        {"id": name, "turns": [{"role": "user", "text": name}]} for name in ("old", "new")
    ],
}


def test_decisions_and_labelled_queries_are_scenarios(tmp_path: Path) -> None:
    path = tmp_path / "sde.json"
    path.write_text(json.dumps(DECISIONS))
    decided = scenarios.read(str(path))
    (prompt,) = decided.prompts
    assert (prompt.sessions, prompt.rule) == (("old", "new"), "retry 5xx plus 429")
    assert decided.sessions[0].date < decided.sessions[1].date
    turns = [("b#0", "2026-05-02", "b"), ("a#0", "2026/05/01 (Fri) 10:00", "a")]
    rows = [
        {"space": "s", "id": turn, "text": turn, "ts": at, "role": "user", "session": session}
        for turn, at, session in turns
    ]
    (tmp_path / "x.corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    asked: dict[str, object] = {
        "space": "s",
        "qid": "q",
        "query": "which?",
        "category": "knowledge-update",
    }
    asked |= {"answerable": True, "relevant": ["b#0", "a#0"]}
    (tmp_path / "x.queries.jsonl").write_text(json.dumps(asked))
    found = scenarios.read(str(tmp_path / "x.queries.jsonl"))
    assert found.prompts[0].sessions == ("a", "b")  # the one that holds last
    both = scenarios.join([decided, found])
    assert [each.id for each in both.sessions] == ["0/old", "0/new", "1/b", "1/a"]
    assert both.prompts[1].sessions == ("1/a", "1/b")


def test_a_reply_is_outdated_unless_it_quotes_or_names_the_later_session(tmp_path: Path) -> None:
    path = tmp_path / "sde.json"
    path.write_text(json.dumps(DECISIONS))
    found = scenarios.read(str(path))
    (prompt,) = found.prompts
    old, new = (f"- session 5cea0000-0000-4000-8000-{n:012x}\n> retry 429" for n in (1, 2))
    assert found.list_quoted(prompt, f"{old}\n{new}") == ["old", "new"]
    assert found.is_outdated(prompt, old)
    for reply in ("", new, f"{old}\n{new}", f"{old}\n> (later on this: 2026-01-06)"):
        assert not found.is_outdated(prompt, reply)
    assert prompt.measure_coverage("they retry 429 alone") == 0.5


def test_kinds_are_added_up() -> None:
    made = [
        recall.PromptOutcome("p", f"{n}", kind, n == 0, n == 1, n == 2, 100, 50 * n, n)
        for n, kind in enumerate(("fix", "fix", scenarios.UNRELATED))
    ]
    fix, unrelated, known = recall.by_kind(made)
    assert (fix.prompts, fix.answered, fix.misled, fix.silent, fix.reply) == (2, 1, 1, 0, 25)
    assert (unrelated.silent, known.kind, known.prompts) == (1, "all with an answer", 2)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[]", "Expected `object`, got `array`"),
        (
            '{"project": "x", "sessions": [{"id": "a", "date": "soon", "turns": []}], "prompts": []}',
            "Invalid isoformat string",
        ),
        ("{", "Input data was truncated"),
    ],
)
def test_what_is_no_scenario_is_named(tmp_path: Path, text: str, wrong: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(text)
    with pytest.raises(MemfsError, match="is no scenario") as raised:
        scenarios.read(str(path))
    assert wrong in raised.value.message
    with pytest.raises(MemfsError, match="cannot read"):
        scenarios.read(str(tmp_path / "none.json"))
