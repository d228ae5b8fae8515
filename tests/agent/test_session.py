"""`memfs agent`: heartbeats, corrections, the order of main context, eviction, kills."""

import json
import time
from pathlib import Path
from typing import cast

from memfs.agent import configured_model
from memfs.agent.loop import LoopLimits
from memfs.agent.session import AgentSession
from memfs.store import blocks, proposals
from memfs.store.blocks import Place
from tests.agent.conftest import Serve, Talk, configure
from tests.agent.scripted_endpoint import Raw, Say, Tool, messages
from tests.cli.conftest import Run


def append(text: str, label: str = "human", *, go_on: bool = False) -> Tool:
    more = {"request_heartbeat": True} if go_on else {}
    return Tool("core_memory_append", {"label": label, "content": text, **more})


def value(place: Place, label: str) -> str:
    return blocks.get(place, label).value


def test_a_chain_of_three_calls_runs_and_ends_in_text(talk: Talk, place: Place) -> None:
    answers = (
        Say("", (append("Name: Alice", go_on=True),)),
        Say("", (append("Works at: Acme", go_on=True),)),
        Say("", (Tool("core_memory_read", {"label": "human", "request_heartbeat": True}),)),
        Say("Nice to meet you, Alice."),
    )
    shown = talk(answers, "I am Alice, I work at Acme.")
    assert shown.code == 0
    assert shown.out == "Nice to meet you, Alice.\n"
    assert value(place, "human") == "Name: Alice\nWorks at: Acme"
    assert (
        shown.err.splitlines()[0]
        == "· core_memory_append: done: 'human' is at version 2, 11/5,000 characters"
    )
    assert "4 of 2,000 calls, 440 of 10,000,000 tokens; today 4 of 5,000 calls" in shown.err


def test_a_block_that_is_read_only_is_not_written(talk: Talk, place: Place, memfs: Run) -> None:
    memfs("create", "rules", "--description", "What holds.")
    path = Path(blocks.get(place, "rules").path)
    path.write_text(path.read_text().replace("read_only: false", "read_only: true"))
    answers = (Say("", (append("x", "rules"),)), Say("Done.", (append("Name: Alice"),)))
    shown = talk(answers, "I am Alice.")
    assert (shown.code, shown.out) == (0, "Done.\n")
    told = "error: cannot append to 'rules': the block is read-only"
    assert talk.asked[1].results[0].startswith(told)
    assert value(place, "human") == "Name: Alice"


def test_a_model_that_goes_on_being_wrong_is_given_up(talk: Talk) -> None:
    shown = talk([Say("", (Tool("nothing", {}),))], "Hi", more=", max_retries: 2")
    assert shown.code == 1
    assert (
        "error: the model's tool calls failed 3 times in a row; the last result: error: unknown "
        "tool" in shown.err
    )


def test_a_run_costs_no_more_than_it_may(talk: Talk, home: Path, memfs: Run) -> None:
    again = Say("", (Tool("memory_status", {"request_heartbeat": True}),))
    shown = talk([again], "Hi", more=", calls_per_run: 2")
    assert shown.code == 1
    assert "error: the model's limit for this run is reached: 2 of 2 calls are used" in shown.err
    shown = talk([again], "Hi", more=", tokens_per_day: 200")
    assert "this day is reached: 220 of 200 tokens are used" in shown.err


def test_nothing_is_asked_where_nothing_is_configured(memfs: Run, place: Place) -> None:
    shown = memfs("agent", "Hi")
    assert shown.code == 2
    assert "error: no model is configured" in shown.err


def test_a_repository_names_no_model(memfs: Run, place: Place, repo: Path) -> None:
    (repo / ".agent-memory" / "config.yaml").write_text("memfs: 1\nllm: {command: touch gotcha}\n")
    assert memfs("agent", "Hi").code == 2


def test_a_window_too_small_for_the_tools_says_so(talk: Talk) -> None:
    shown = talk([Say("Hi")], "Hi", context="context: {max_tokens: 1500}\n")
    assert shown.code == 1
    assert "error: a window of 1,500 tokens is too small" in shown.err


def test_a_session_goes_on_where_it_was_left(talk: Talk) -> None:
    talk([Say("Well.")], "First.", "--session", "one")
    talk([Say("Well.")], "Second.", "--continue")
    assert [each.said for each in talk.asked] == [("First.", "Second.")]


def test_a_session_is_open_in_one_process(talk: Talk, place: Place, home: Path) -> None:
    configure(home, "llm: {command: cat}\n")
    with AgentSession(
        Place(place.project, place.user, "one"), configured_model.load_model(), LoopLimits()
    ):
        shown = talk([Say("Hi")], "Hi", "--session", "one")
    assert shown.code == 1
    assert "error: the session one is open in another process" in shown.err


def test_secrets_and_private_words_are_not_written_down(talk: Talk, place: Place) -> None:
    key = "ghp_" + "x7Kq2mPz9LwR4tVb8NcY3sHd6JfG1aQeU5oZ"
    said = f"My key is {key}. <private>I am ill.</private> Bye."
    talk([Say(f"I will not repeat {key}.")], said, "--session", "one")
    assert "I am ill." in talk.asked[0].said[0]
    kept = "".join(
        path.read_text(errors="replace")
        for path in Path(place.home.local).rglob("*")
        if path.is_file() and path.suffix in (".jsonl", ".json")
    )
    assert "My key is [redacted" in kept
    assert key not in kept
    assert "I am ill" not in kept


def test_notes_that_have_nothing_to_do_with_the_talk_any_more_are_paged_out(
    talk: Talk, place: Place, memfs: Run
) -> None:
    notes = append(
        "- The retry test of the payment client needs a fake clock.\n"
        "- Its payment timeout is two seconds, the retries double it.",
        "working",
    )
    prompt = "Fix the retry test of the payment client."
    talk([Say("Noted.", (notes,))], prompt, "--session", "one")
    here = Place(place.project, place.user, "one")
    for prompt in (
        "How large is the banner picture of the harbour?",
        "Paint the banner picture of the harbour green",
        "Which green fits the harbour banner in summer?",
    ):
        talk([Say("Sure.")], prompt, "--session", "one")
        assert len(blocks.get(here, "working").value.splitlines()) == 2
    talk([Say("Sure.")], "Yes, go on with it", "--session", "one")
    assert not blocks.get(here, "working").paged_out
    talk([Say("Sure.")], "Draw two boats on the harbour banner", "--session", "one")
    found = blocks.get(here, "working")
    assert (found.value, found.paged_out) == ("", True)
    entry = json.loads(memfs("log", "working", "--session", "one", "--json").out)[0]
    assert entry["op"] == "page-out"


def test_status_says_what_was_spent(talk: Talk, memfs: Run, place: Place) -> None:
    assert "\nmodel " not in memfs("status").out
    talk([Say("Hello.")], "Hi")
    [line] = [each for each in memfs("status").out.splitlines() if each.startswith("model ")]
    assert "m at http://127.0.0.1:" in line
    assert line.endswith(", today 1 of 5,000 calls, 110 of 20,000,000 tokens")


def test_tools_are_taken_away_and_said_otherwise(talk: Talk, place: Place, memfs: Run) -> None:
    said = "tools: {remove: [memory_page_in, memory_undo], describe: {memory_page_out: Tidy up.}}\n"
    shown = talk([Say("Hello.")], "Hi", context=said)
    assert "!" not in shown.err
    offered = cast("list[dict[str, dict[str, str]]]", talk.asked[0].body["tools"])
    about = {each["function"]["name"]: each["function"]["description"] for each in offered}
    assert about["memory_page_out"] == "Tidy up."
    assert not {"memory_page_in", "memory_undo"} & set(about)
    assert "unknown tool" not in memfs("tools").err


def review_by(mode: str) -> str:
    return f"review: {{mode: {mode}, min_messages: 1}}\n"


def test_agent_reviews_its_own_session_inline(talk: Talk, place: Place) -> None:
    inline = review_by("inline")
    answers = (Say("Hello, Alice."), Say("", (append("Name: Alice"),)), Say("Again."))
    shown = talk(answers, "I am Alice.", "--session", "a1", context=inline)
    assert (shown.code, shown.out) == (0, "Hello, Alice.\n")
    assert value(place, "human") == "Name: Alice"
    again = talk(
        [Say("Still here."), Say("Nothing is new.")], "Are you?", "--session", "a1", context=inline
    )
    assert again.out == "Still here.\n"


def test_agent_is_nudged_to_review_at_the_next_prompt(
    serve: Serve, place: Place, home: Path
) -> None:
    server = serve([Say("Well.")])
    configure(home, f"llm: {{endpoint: {server.url}, model: m}}\n{review_by('nudge')}")
    named, model = Place(place.project, place.user, "a3"), configured_model.load_model()
    with AgentSession(named, model, LoopLimits()) as chat:
        chat.say("I am Alice.")
        assert "a reminder" not in str(messages(server.asked[0].body))
        chat.say("Go on.")
        chat.say("And on.")
    model.close()
    assert str(messages(server.asked[2].body)).count("a reminder") == 2, "as much came since"


def test_agent_has_its_ended_session_reviewed_in_the_background(talk: Talk, place: Place) -> None:
    answers = (Say("Hello."), Say("", (append("Name: Alice"),)), Say("Saved a name."))
    shown = talk(answers, "I am Alice.", "--session", "a2", context=review_by("background"))
    assert shown.out == "Hello.\n"
    until = time.monotonic() + 20
    while not (found := proposals.list_reviews(place.home)) and time.monotonic() < until:
        time.sleep(0.05)
    assert [(each.session, each.host, each.text) for each in found] == [
        ("a2", "memfs", "Saved a name.")
    ]
    assert value(place, "human") == "Name: Alice"


def test_an_error_of_the_endpoint_is_a_line_of_a_log(talk: Talk, place: Place) -> None:
    shown = talk([Raw(401, '{"error": {"message": "no such key"}}')], "Hello.")
    assert shown.code == 1
    [line] = (Path(place.home.local) / "model.log").read_text().splitlines()
    assert "answers with status 401: no such key" in line
