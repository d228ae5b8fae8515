"""Tool calls: what they do to memory, and what a model is told when they cannot be done."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.block import Block
from memfs.core.records import Origin
from memfs.knowledge.facts.prose import is_about_user
from memfs.ops import history
from memfs.store import archive, blocks, journal
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from memfs.tools import calls
from memfs.tools.calls import ToolCall
from memfs.tools.definition import Tool
from memfs.tools.tool_context import ToolContext
from tests.examples import examples
from tests.tools.conftest import TOOLS, Do


@pytest.fixture
def context(place: Place, repo: Path) -> ToolContext:
    return ToolContext(str(repo), Origin("agent", "claude", "s1"))


def value(place: Place, label: str) -> str:
    return blocks.get(place, label).value


def test_the_call_named_for_a_line_that_says_otherwise(do: Do) -> None:
    before = "Port: 80\nPort: 80 (b)"
    do("memory_create", label="user:persona", description="x", initial_value=before)
    told = do("core_memory_append", label="user:persona", content="Port: 443").text
    done = do("core_memory_replace", **json.loads(told.partition("core_memory_replace with ")[2]))
    assert not done.is_error, done.text
    assert do("core_memory_read", label="user:persona").text.endswith("\n\nPort: 80 (b)\nPort: 443")


def test_an_append_is_in_the_file_and_in_the_journal_with_host_and_session(
    do: Do, place: Place
) -> None:
    done = do("core_memory_append", label="Human", content="Name: Alice", reason="she said so")
    assert (done.text, done.is_error) == (
        "done: 'human' is at version 2, 11/5,000 characters",
        False,
    )
    assert value(place, "human") == "Name: Alice"
    entry = history.log(place, "human")[0]
    assert (entry.actor, entry.host, entry.session) == ("agent", "claude", "s1")
    assert entry.reason == "she said so"


def test_blocks_are_edited_by_every_operation(do: Do, place: Place) -> None:
    do("memory_create", label="Project Alpha", description="about alpha", initial_value="a\nc")
    do("memory_insert", label="project_alpha", line="1", content="b")
    do("core_memory_replace", label="project_alpha", old_content="c", new_content="c c")
    do("core_memory_replace", label="project_alpha", old_content="c", new_content="d", all="true")
    assert value(place, "project_alpha") == "a\nb\nd d"
    do("core_memory_remove", label="project_alpha", content="b")
    assert value(place, "project_alpha") == "a\nd d"
    do("memory_rename", label="project_alpha", new_label="Alpha")
    do("memory_rethink", label="alpha", new_value="all new", expected_version=6)
    assert value(place, "alpha") == "all new"
    assert do("memory_undo", label="alpha").text.startswith("undone: version 7\ndone: 'alpha'")
    assert value(place, "alpha") == "a\nd d"
    gone = do("memory_delete", label="alpha")
    assert (
        gone.text
        == "done: 'alpha' was deleted; the user can restore the block with memfs undo alpha"
    )
    do("memory_undo", label="alpha")
    assert value(place, "alpha") == "a\nd d"


def test_reading_shows_text_and_numbers_or_lists_all(do: Do) -> None:
    do("core_memory_append", label="human", content="Name: Alice")
    lines = do("core_memory_read", label="human").text.splitlines()
    assert lines[0] == "[user:human] version 2, 11/5,000 characters"
    assert lines[-1] == "Name: Alice"
    assert do("core_memory_read", label="human", version=1).text.endswith("\n\n")
    listed = do("core_memory_read").text.splitlines()
    assert [line.split("]")[0] for line in listed] == [
        "[session:working",
        "[project:persona",
        "[project:system_rules",
        "[user:human",
    ]
    assert "- human (user): version 2, 11/5,000 characters" in do("memory_status").text


def test_a_nearly_full_block_says_so(do: Do) -> None:
    told = do("core_memory_append", label="human", content="x" * 4500).text
    assert told.endswith("4,500/5,000 characters; nearly full: consolidate it with memory_rethink")
    do("memory_rethink", label="human", new_value="Name: Alice\n" + "The port is 8080.\n" * 240)
    told = do("core_memory_append", label="human", content="Never deploy on Fridays.").text
    assert told.endswith("memory_page_out can archive: " + "; ".join(["The port is 8080."] * 3))


def test_what_is_not_clearly_relevant_is_shown_on_request(do: Do) -> None:
    do("archival_memory_insert", content="Chose Postgres for the queue: concurrent writers.")
    query = "which hiking boots keep dry in the snow of queue mountain"
    said = do("archival_memory_search", query=query).text
    assert said == "nothing is clearly relevant; use nearest=true to see the nearest of 1 hit"
    assert "Chose Postgres" in do("archival_memory_search", query=query, nearest=True).text


def archive_of(store: Store | None) -> list[str]:
    assert store
    return [found.text for path in archive.sources(store) if (found := archive.read(path))]


ABOUT_USER = [
    "The user prefers tabs over spaces.",
    "The user's name is Ana; she maintains the gateway.",
    "User's timezone: Europe/Berlin, works until 16:00.",
    "The user strongly dislikes long answers.",
    "The user is a senior Rust developer who is new to Python.",
    "User changed jobs from Google to Anthropic in Jan 2025",
    "My name is Ana, and I lead the team of the gateway.",
    "- I never use tabs in Python.",
]
ABOUT_PROJECT = [
    "The user is redirected to /login after the session expires.",
    "The user's email is validated in forms.py.",
    "The user's role is stored in the token.",
    "Users prefer the dark theme, says the survey.",
    "The user model has a unique name.",
    "Fixed the login: I moved the check into auth.py.",
    "Chose Postgres over SQLite for the queue.",
    # the words that say that are English
    "Der Nutzer bevorzugt kurze Antworten und dunkle Themen.",
    "Mein Name ist Ana und ich wohne in Wien.",
    "L'utilisateur préfère les réponses courtes et en français.",
    "El usuario prefiere respuestas cortas y temas oscuros.",
    "Käyttäjä pitää lyhyistä vastauksista ja tummista teemoista.",
    "Пользователь предпочитает короткие ответы и тёмные темы.",
    "用户喜欢简短的回答,并且住在北京。",
    "المستخدم يفضل الإجابات القصيرة والمواضيع الداكنة.",
]


def test_what_is_about_the_user_says_so_in_english_or_by_a_tag() -> None:
    assert [text for text in ABOUT_USER if not is_about_user(text)] == []
    assert [text for text in ABOUT_PROJECT if is_about_user(text, ["users"])] == []
    assert all(is_about_user(text, ["x", "Personal"]) for text in ABOUT_PROJECT)


def test_a_model_says_about_whom_a_passage_is(do: Do, place: Place) -> None:
    do("archival_memory_insert", content="Ana has a cat.", about="user")
    do("archival_memory_insert", content="Ana plays chess.", tags=["Personal"])
    do("archival_memory_insert", content="The user prefers dark themes.", about="project")
    done, again = (do("archival_memory_insert", content=ABOUT_USER[0]).text for _ in range(2))
    assert done.endswith(" in the user's own archive")
    assert again.startswith("already archived as ")
    assert again.endswith(" in the user's own archive")
    assert ABOUT_USER[0] in do("archival_memory_search", query=ABOUT_USER[0]).text
    theirs = sorted(archive_of(place.user))
    assert theirs == ["Ana has a cat.", "Ana plays chess.", ABOUT_USER[0]]
    assert archive_of(place.project) == ["The user prefers dark themes."]


def test_passages_are_archived_once_and_found(do: Do) -> None:
    text = "Chose Postgres for the queue: concurrent writers."
    first = do("archival_memory_insert", content=text, tags="database", importance="8").text
    ident = re.fullmatch(r"archived as (\w+)", first)
    assert ident
    assert do("archival_memory_insert", content=text).text == f"already archived as {ident[1]}"
    found = do("archival_memory_search", query="why postgres", tags=["x", "database"], match="any")
    assert found.text.splitlines()[:3] == [
        "showing 1-1 of 1 hit",
        f"1. 2026-05-03 passage {ident[1]} #database",
        f"   {text}",
    ]
    assert do("archival_memory_search", query="postgres", tags=["x", "database"]).text == (
        "nothing found"
    )
    assert do("archival_memory_search", query="postgres", min_importance=9).text == "nothing found"
    assert do("archival_memory_search", query="postgres", page=7).text == (
        "there is no page 7: 1 hit on 1 page"
    )


def test_a_refusal_says_why_and_what_the_model_can_do(do: Do, place: Place) -> None:
    """`refused.jsonl` has a tool, what it is given, and a part of what is told, a line."""
    before = [block.raw for block in blocks.load(place)]
    for line in (Path(__file__).parent / "refused.jsonl").read_text().splitlines():
        name, given_, part = json.loads(line)
        told = do(name, **given_)
        assert told.is_error, line
        assert part in told.text, line
        asked = re.sub(r"(ask the user to run|the user can:) memfs", "", told.text)
        assert "memfs " not in asked, "a command line is no use to a model without a shell"
        assert "--" not in asked
    assert [block.raw for block in blocks.load(place)] == before


@pytest.mark.parametrize(
    ("name", "given_", "told"),
    [
        ("core_memory_append", {"block": "human", "content": "x"}, "done: 'human' is at version 2"),
        ("core_memory_append", {"name": "human", "content": 7}, "done: 'human' is at version 2"),
        ("archival_memory_search", {"query": "x", "k": 3}, "nothing found"),
        ("conversation_search_date", {"start": "2026-05-01", "end": "2026-05-02"}, "nothing found"),
        ("archival_memory_search", "x", "nothing found"),
    ],
)
def test_what_arguments_are_meant_for_is_seen(
    context: ToolContext, name: str, given_: object, told: str
) -> None:
    result = calls.run(context, TOOLS, ToolCall(name, given_))
    assert not result.is_error, result.text
    assert result.text.startswith(told)


@pytest.mark.parametrize("arguments", [None, [], "x", 5, True])
def test_arguments_that_are_no_object_are_refused(context: ToolContext, arguments: object) -> None:
    result = calls.run(context, TOOLS, ToolCall("memory_status", arguments))
    assert result.is_error
    assert "must be an object" in result.text


def test_a_heartbeat_is_passed_on_and_is_no_argument(do: Do) -> None:
    assert do("memory_status", request_heartbeat=True).heartbeat
    assert do("memory_status", request_heartbeat="true").heartbeat
    assert not do("memory_status", request_heartbeat=False).heartbeat
    assert not do("memory_status").heartbeat


def test_a_store_that_is_not_trusted_is_neither_read_nor_written(
    do: Do, place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMFS_HOME", str(tmp_path / "somebody"))  # another user's home
    (tmp_path / "somebody").mkdir()
    for told in (do("core_memory_read"), do("core_memory_append", label="persona", content="x")):
        assert told.text.startswith("error: the memory of this project is not trusted yet")
        assert "memfs trust" in told.text


def test_a_folder_without_memory_says_how_to_make_one(home: Path, tmp_path: Path) -> None:
    told = calls.run(ToolContext(str(tmp_path)), TOOLS, ToolCall("memory_status"))
    assert told.text.endswith("hint: ask the user to run memfs init in the project's folder")


def arguments(schema: dict[str, object]) -> st.SearchStrategy[object]:
    """Arguments that fit a tool's schema, nearly fit it, or do not fit at all."""
    labels = st.sampled_from(["human", "persona", "Alpha", "a/b", "working", "user:human", "../x"])
    text = st.one_of(
        st.text(max_size=40), labels, st.just("x" * 6000), st.sampled_from(["/memories/a.md", ""])
    )
    values: dict[str, st.SearchStrategy[object]] = {
        "string": text,
        "integer": st.integers(-3, 12),
        "boolean": st.booleans(),
        "array": st.lists(st.one_of(text, st.integers(-2, 9)), max_size=3),
    }
    properties = schema["properties"]
    assert isinstance(properties, dict)
    odd: st.SearchStrategy[object] = st.one_of(
        st.none(), st.integers(), st.floats(), st.text(max_size=9), st.just([[]])
    )
    usual = {
        name: labels
        if name == "label"
        else st.sampled_from(told["enum"])
        if "enum" in told
        else values[told["type"]]
        for name, told in properties.items()
    }
    required = schema.get("required", [])
    assert isinstance(required, list)
    valid = st.fixed_dictionaries(
        {name: usual[name] for name in required},
        optional={name: each for name, each in usual.items() if name not in required},
    )
    wild = {name: st.one_of(each, odd) for name, each in usual.items()}
    invalid = st.fixed_dictionaries({}, optional={**wild, "zzz": odd})
    return st.one_of(valid, valid, valid, invalid, odd)


CALLS = st.sampled_from(sorted(TOOLS)).flatmap(
    lambda name: st.tuples(st.just(name), arguments(TOOLS[name].schema()))
)


def sound(block: Block) -> bool:
    return not block.problem and (block.chars <= block.limit or block.limit == 0)


@given(st.lists(CALLS, min_size=1, max_size=12))
@examples(60)
def test_random_calls_never_raise_and_leave_the_store_whole(
    context: ToolContext, place: Place, made: list[tuple[str, object]]
) -> None:
    for name, given_ in made:
        told = calls.run(context, TOOLS, ToolCall(name, given_))
        assert told.text
    assert all(sound(block) for block in blocks.load(place))
    for store in {store.root: store for _, store in place.list_tiers()}.values():
        entries = journal.read(store)
        versions: dict[str, int] = {}
        for entry in entries:
            assert entry.version > versions.get(entry.key, 0)
            versions[entry.key] = entry.version


def test_a_secret_is_kept_neither_as_a_reason_nor_as_a_tag(do: Do, place: Place) -> None:
    secret = "ghp_" + "a8Zk3" * 7 + "Q"
    do("core_memory_append", label="human", content="Name: Alice")
    for told in (
        do("core_memory_append", label="human", content="x", reason=f"it is {secret}"),
        do("memory_undo", label="human", reason=f"it is {secret}"),
        do("archival_memory_insert", content="a passage", tags=[secret]),
        do("archival_memory_insert", content="a passage", reason=f"it is {secret}"),
    ):
        assert "a secret" in told.text
    assert value(place, "human") == "Name: Alice"
    root = Path(place.home.root)
    kept = "".join(
        p.read_text().lower() for p in root.rglob("*.*") if p.suffix in (".md", ".jsonl")
    )
    assert secret.lower() not in kept


def test_whatever_a_tool_raises_is_said(context: ToolContext) -> None:
    def broken(_context: ToolContext, _given: object) -> str:
        raise OSError(28, "No space left on device")

    tools = {"broken": Tool("broken", "Broken", "read", (), broken)}
    told = calls.run(context, tools, ToolCall("broken", {"request_heartbeat": True}))
    assert told.text == "error: broken failed: OSError: [Errno 28] No space left on device"
    assert (told.is_error, told.heartbeat) == (True, True)


def test_what_is_gone_is_told_as_what_became_of_it(do: Do) -> None:
    renamed = do("memory_rename", label="human", new_label="people").text
    assert renamed.startswith("done: 'human' was renamed\ndone: 'people' is at version")
    do("memory_create", label="new", description="d")
    assert do("memory_undo", label="new").text == "undone: version 1\ndone: 'new' no longer exists"


def test_no_hint_names_an_option_of_the_command_line(place: Place, repo: Path) -> None:
    context = ToolContext(str(repo), Origin("agent"))
    call = ToolCall("memory_create", {"label": "session:notes", "description": "d"})
    told = calls.run(context, TOOLS, call).text
    assert (
        told
        == "error: there is no session tier here\nhint: use the project or user tier: no session is open"
    )
