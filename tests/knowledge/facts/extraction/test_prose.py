"""Facts in what was said: sentences of our own, labelled."""

import time

import pytest

from memfs.core.records import Fact, Message
from memfs.knowledge.facts import prose


def said(text: str, role: str = "user") -> list[Fact]:
    return prose.facts(Message("m1", "s1", "claude", "", "", "2026-05-03T09:00:00Z", role, text))


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("My name is Alice.", "identity"),
        ("I work at Acme in Berlin.", "identity"),
        ("I prefer tabs over spaces.", "preference"),
        ("I really hate long commit messages.", "preference"),
        ("I never use vim for merges.", "preference"),
        ("Never deploy on Fridays.", "rule"),
        ("Please always run the linter before you commit.", "rule"),
        ("From now on, write tests first.", "rule"),
        ("We decided to use Postgres for the queue.", "decision"),
        ("Let's go with the second design.", "decision"),
        ("We'll switch to Helm next week.", "decision"),
        ("I'm on macOS with an M2.", "environment"),
        ("We deploy on Kubernetes in Frankfurt.", "environment"),
        ("We use Biome to format the code.", "environment"),
        ("No, the port of the gateway is 8080 and not 80.", "correction"),
        ("The project needs Python 3.12 to run.", "version"),
    ],
)
def test_people_state_what_lasts(text: str, category: str) -> None:
    [found] = said(text)
    assert (found.category, found.statement) == (category, text.rstrip("."))


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("The build fails because the lock file is out of date.", "cause"),
        ("`loadConfig()` is defined in `src/config.ts`.", "technical"),
        ("The `retry` option uses seconds, and not milliseconds.", "technical"),
        ("There are two places that write `settings.json`.", "technical"),
        ("Added a `--force` flag to `cli.py`.", "change"),
        ("`queue.go` (line 9): Renamed `take` to `next`.", "change"),
        ("`retry: 3` - limits how often an order is sent.", "technical"),
        ("The ParserError comes from an empty header in CsvReader.", "technical"),
    ],
)
def test_assistants_state_what_they_found(text: str, category: str) -> None:
    assert [fact.category for fact in said(text, "assistant")] == [category]


@pytest.mark.parametrize(
    "text",
    [
        "What port does the gateway use?",
        "Can you always run the tests?",
        "fix the tests",
        "commit",
        "ok, great, thanks a lot",
        "I'd like to see the log of the last run.",
        "If we decided to use Postgres, what would change?",
        "> We decided to use Postgres.",
        "```\nWe decided to use Postgres.\n```",
        "| We decided | to use Postgres |",
        "It should support refunds.",
    ],
)
def test_questions_wishes_and_quotations_are_no_facts(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Let me look at `src/config.ts` first.",
        "I'll update `cli.py` and run the tests.",
        "Now I need to check whether `loadConfig()` is used.",
        "The error in `cli.py` might be caused by the cache.",
        "`git status` shows that `a.txt` is untracked.",
        "Should I remove `retry` from `config.ts`?",
        "All tests pass.",
        "Perfect! That works.",
        "Tracks when `report.pdf` was made.",
        "Lets anyone who pinned `v0.1.0` stay there.",
        "Local disks have backup/recovery issues.",
        "The CSS is fine.",
        "Building `app` with Rust 1.80.",
        "The only approach for Go is to use `runtime/trace`.",
        "The `cli.py` import was removed since it is not used yet.",
        "Changed `a()` → `b()`",
        "Committed as `50d8160`.",
        "The component is in `src/app.tsx`.",
        "There are no calls of `retry()`.",
    ],
)
def test_plans_and_guesses_of_assistants_are_none(text: str) -> None:
    assert said(text, "assistant") == []


def test_what_tools_were_called_with_and_printed_is_no_fact() -> None:
    for text in (
        "command: bun run test",
        "command: git commit -m 'Keep orders in a queue'",
        "We decided to use Postgres.",
        "`loadConfig()` is defined in `src/config.ts`.",
        "The installed version of `node` is 20.1.0",
    ):
        assert said(text, "tool") == []


def test_names_and_relations_are_known() -> None:
    [fact] = said("`loadConfig()` calls `parse()` of src/yaml.ts on Linux.", "assistant")
    assert fact.entities == ("loadConfig()", "parse()", "src/yaml.ts", "Linux")
    assert fact.relations == (("loadConfig()", "calls", "parse()"),)


@pytest.mark.parametrize(
    ("text", "key", "over"),
    [
        ("My name is Alice.", "the user's name", ()),
        ("I prefer pytest for unit tests.", "for unit tests", ()),
        ("Let's use Postgres instead of MySQL.", "", ("mysql",)),
        ("We decided to switch from npm to pnpm.", "", ("npm",)),
        ("The project needs Python 3.12 to run.", "version of python", ()),
    ],
)
def test_what_a_fact_tells_of_is_known(text: str, key: str, over: tuple[str, ...]) -> None:
    [fact] = said(text)
    assert (fact.key, fact.over) == (key, over)


def test_marks_of_lists_and_emphasis_are_left_out() -> None:
    text = "- **Never** deploy on Fridays.\n2. We decided to use __Postgres__.\n"
    assert [fact.statement for fact in said(text)] == [
        "Never deploy on Fridays",
        "We decided to use Postgres",
    ]


def test_links_within_a_machine_are_left_out() -> None:
    [fact] = said("Added a flag to [cli.py](/home/ann/shop/cli.py) and `main()`.", "assistant")
    assert fact.statement == "Added a flag to `cli.py` and `main()`"


def test_a_name_at_the_end_of_a_sentence_has_no_full_stop() -> None:
    [found] = said("`shop` uses `Postgres.` and not what is in docs/old.", "assistant")
    assert found.entities == ("shop", "Postgres", "docs/old")
    assert found.relations == (("shop", "uses", "Postgres"),)


@pytest.mark.parametrize(
    "sign", ["x", "[a", " ", '"', "/** ", "a/", "(", "# ", "--", "`", "a `b` "]
)
def test_odd_texts_take_linear_time(sign: str) -> None:
    text = sign * (3000 // len(sign))
    started = time.perf_counter()
    for role in ("user", "assistant"):
        said(text, role)
    assert time.perf_counter() - started < 2
