"""No door lets a secret into memory: it is in no file but those that an editor wrote."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfs.core.records import Origin
from memfs.recall import index_sources
from memfs.store import blocks, proposals
from memfs.store.blocks import Place
from memfs.team import verbs
from memfs.tools import registry
from memfs.tools.tool_context import ToolContext
from tests.agent.scripted_endpoint import Asked, Say, ScriptedEndpoint, Tool
from tests.e2e import program, ways
from tests.e2e.ways import Door, cli, hook, tool
from tests.hosts.reading import FIXTURES
from tests.ops.team_steps import share
from tests.service import running
from tests.team.small_server import SmallServer
from tests.team.team_table import TeamTable

TOKEN = "ghp_" + "".join(f"{n}aB" for n in range(10, 22))[:36]  # made up for this test
SAID = f"the deploy key is {TOKEN}, as ever"
SESSION = "f6c7db81-ed67-4c4c-a5fe-df792d2079d7"
BASE64 = [base64.b64encode(b"x" * n + TOKEN.encode())[4:48] for n in range(3)]
FORMS = [TOKEN.encode(), TOKEN.lower().encode(), TOKEN.encode().hex().encode(), *BASE64]
TRANSCRIPTS = [path for path in FIXTURES.glob("*/*.jsonl") if not path.stem.startswith("hook")]
EVENTS = (
    *"SessionStart SubagentStart UserPromptSubmit PreToolUse PostToolUse Stop".split(),
    *"PreCompact SessionEnd BeforeAgent AfterAgent BeforeTool AfterTool PreCompress".split(),
    *"sessionStart beforeSubmitPrompt preToolUse postToolUse stop preCompact sessionEnd".split(),
)
PAYLOADS: dict[str, dict[str, object]] = {
    "claude": {},
    "codex": {"turn_id": "t", "transcript_path": None},
    "copilot": {"timestamp": "2026-11-20T04:57:34.237Z"},
    "cursor": {"cursor_version": "3.20", "conversation_id": "s1"},
    "gemini": {
        "timestamp": "2026-11-20T04:46:32.233Z",
        "transcript_path": "/x/.gemini/tmp/shop/chats/session-1.jsonl",
    },
    "opencode": {"host": "opencode"},
}
COMMANDS = (  # S stands for the text with the secret
    "edit human --append S",
    "edit human --set S",
    "edit human --append fine --reason S",
    "edit human --description S",
    "edit human --tag S",
    "edit working --session s1 --append S",
    "edit working --session s1 --set S",
    "create session:x S --description fine --session s1",
    "create x S --description fine",
    "create x fine --description S",
    "create S fine --description fine",
    "rename human S",
    "delete human --reason S",
    "undo human --reason S",
    "archive add S",
    "archive add fine --tag S",
    "archive add fine --reason S",
    "static add key S",
    "static add S fine",
    "static add key fine --category S",
    "search S",
    "search S --sessions",
    "recall S",
    "graph --similar S",
    "facts list S",
    "facts extract --no-model",
    f"session outcome {SESSION} worked --why S",
    "page out human --task S",
    "page in S",
    "rethink human --apply --no-model",
    "source add S docs",
    "source add docs docs --glob S",
    "source add keys docs",
    "ingest S",
    "ingest said.jsonl",
    "import said.md",
    "import said.md --pin",
    "model use S",
    "review",
    "sync",
    "doctor --fix",
    "export --all made.zip",
    "import --anyway made.zip",
)


def commands() -> Iterator[Door]:
    for line in COMMANDS:
        yield Door("cli", tuple(SAID if word == "S" else word for word in line.split()))
    for label in ("human", "session:working"):
        call = {**ways.CALLS[0], "input": {"label": label, "content": SAID}}
        yield cli("apply", json.dumps([call]))


def tools(place: Place) -> Iterator[Door]:
    """Call every tool with the secret in each of its texts, and in all."""
    for each in registry.offer_tools(ToolContext(place.home.top)).tools.values():
        texts = [p.name for p in each.parameters if p.kind[:6] == "string" and not p.choices]
        for secret in (*([name] for name in texts), texts):
            given: dict[str, object] = {}
            for p in each.parameters:
                usual = "human" if p.name == "label" else "fine"
                value = (
                    SAID if p.name in secret and (p.name != "label" or len(secret) < 2) else usual
                )
                if p.name in texts:
                    given[p.name] = [value] if p.kind == "strings" else value
                elif p.required:
                    given[p.name] = p.choices[0] if p.choices else 1
            yield tool(each.name, **given)


def events() -> Iterator[Door]:
    told = {
        **dict.fromkeys(("prompt", "reason", "trigger", "tool_response", "tool_result"), SAID),
        "last_assistant_message": SAID,
        "tool_name": "Write",
        "tool_input": {"file_path": f"/x/{TOKEN}", "command": SAID, "content": SAID},
    }
    for name, more in PAYLOADS.items():
        for event in EVENTS:
            yield hook(name, event, **{**told, **more})
    yield Door("hook", ("claude", "broken"), json.dumps([SAID]))


def insert_secret(value: object) -> object:
    """Insert the secret into every text of a transcript that is more than a word."""
    if isinstance(value, str):
        return f"{value} {SAID}" if " " in value else value
    if isinstance(value, list):
        return [insert_secret(each) for each in value]
    if isinstance(value, dict):
        return {key: insert_secret(each) for key, each in value.items()}
    return value


def write_transcript(path: Path, recorded: Path) -> None:
    lines = recorded.read_text(errors="replace").splitlines()
    path.write_text("".join(f"{json.dumps(insert_secret(json.loads(line)))}\n" for line in lines))


def list_keeping(place: Place) -> set[Path]:
    """List the files of a place's stores that hold the secret, in any form that can be seen."""
    paths = [path for store in place.stores() for path in Path(store.root).rglob("*")]
    assert not any(TOKEN in str(path) for path in paths)
    texts = {path: path.read_bytes() for path in paths if path.is_file()}
    return {path for path, data in texts.items() if any(form in data for form in FORMS)}


def check(place: Place, *written: Path) -> None:
    """Check that no other file holds the secret, and that no search finds it."""
    index_sources.sync(place, embed=False)
    assert list_keeping(place) == set(written)
    index = index_sources.open_engine(place.home, place.home.index, None)
    hits = [hit for words in ("deploy key", TOKEN) for hit in index.search(words, limit=50).hits]
    assert hits
    assert TOKEN not in "".join(hit.text for hit in hits)


@pytest.fixture
def begun(place: Place, repo: Path) -> Place:
    """A place with a past session, a passage, files with the secret beside it, and a session."""
    (repo / "docs").mkdir()
    for path in (repo / "said.md", repo / "docs/keys.md"):
        path.write_text(f"# Keys\n{SAID}\n")
    write_transcript(repo / "said.jsonl", FIXTURES / "claude/basic.jsonl")
    for line in ("archive add Gophers_dig_tunnels", "ingest said.jsonl"):
        assert ways.go_through(cli(line), repo)[0] == 0
    ways.go_through(hook("claude", "SessionStart", source="startup"), repo)
    index_sources.sync(place, embed=False)
    return place


def test_no_command_keeps_it(begun: Place, repo: Path) -> None:
    for door in commands():
        ways.go_through(door, repo)
    check(begun)


def test_no_tool_keeps_it(begun: Place, repo: Path) -> None:
    for door in tools(begun):
        ways.go_through(door, repo)
    check(begun)


def test_no_event_keeps_it(begun: Place, repo: Path) -> None:
    for door in events():
        ways.go_through(door, repo)
    check(begun)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_transcript_brings_it(path: Path, begun: Place, repo: Path) -> None:
    write_transcript(repo / "told.jsonl", path)
    for line in ("ingest told.jsonl", "facts extract --no-model", "graph"):
        assert ways.go_through(cli(line), repo)[0] == 0
    check(begun)


def test_no_model_writes_it(begun: Place, home: Path, repo: Path) -> None:
    calls = (
        Tool("core_memory_append", {"label": "human", "content": SAID}),
        Tool("core_memory_append", {"label": "human", "content": "Name: Alice"}),
        Tool("archival_memory_insert", {"content": SAID}),
    )

    def answer(asked: Asked) -> Say:
        assert TOKEN not in json.dumps(asked.body) or asked.step, "it saw what it said itself"
        return Say(SAID) if asked.step else Say(SAID, calls)

    with ScriptedEndpoint(answer) as server:
        config = (
            f"memfs: 1\nreview: {{min_messages: 1}}\nllm: {{endpoint: {server.url}, model: m}}\n"
        )
        (home / ".agent-memory/config.yaml").write_text(config)
        for line in (
            "review reflect",
            f"review session {SESSION}",
            "facts extract",
            "rethink human",
        ):
            ways.go_through(cli(line), repo)
    assert proposals.list_reviews(begun.home)
    assert proposals.list_pending(begun.home)
    check(begun)


def test_no_member_of_a_team_gets_it(begun: Place, table: TeamTable, server: SmallServer) -> None:
    verbs.join_project(begun, server.address, "mft_1", Origin(), project="shop")
    assert share(begun, session=SESSION).report.stored
    assert TOKEN not in repr(table.list_rows()) + repr(table.titles)
    check(begun)


@pytest.fixture
def edited(begun: Place, repo: Path) -> list[Path]:
    """Files into which an editor wrote the secret."""
    assert begun.user
    root, user = Path(begun.home.root), Path(begun.user.root)
    (user / "config.yaml").write_text("memfs: 1\npaging:\n  page_out_threshold: 0.01\n")
    for line in ("edit human --append fine", "create rules fine --description Rules."):
        assert ways.go_through(cli(line), repo)[0] == 0
    written = [
        root / "archive/2026-05/mine.md",
        root / "blocks/mine.md",
        root / "blocks/rules.md",
        root / "local/sessions/s1/working.md",
        root / "prompts/guidance.md",
        root / "static/mine.md",
        user / "archive/2026-05/mine.md",
        user / "blocks/human.md",
    ]
    for path in written:
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else ""
        path.write_text(f"{before}{SAID}\n")
    (root / "blocks/mine.md").write_text(f"---\nlimit: [\n---\n{SAID}\n")  # doctor mends it
    return written


def test_what_an_editor_wrote_stays_where_it_is(
    edited: list[Path], begun: Place, repo: Path
) -> None:
    unsafe = {"--purge", "--with-secrets", "rename", "--revoke"}
    doors = [door for door in ways.DOORS if not unsafe & set(door.words)]
    for door in (*ways.EVENTS, *doors, *ways.EVENTS):
        ways.go_through(door, repo)
    assert ways.go_through(cli("sync agents"), repo)[0] == 0
    assert "[redacted:github-token]" in (repo / "AGENTS.md").read_text()
    assert TOKEN not in (repo / "AGENTS.md").read_text()
    draft = proposals.StoreDraft(begun)
    Path(blocks.get(draft.place, "persona").path).write_text("shorter\n")
    assert draft.save_proposal("m", ("s1",), SAID, SAID)
    check(begun, *(path for path in edited if path.exists() and SAID in path.read_text()))


@pytest.fixture
def served(edited: list[Path], home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """Start the service of this home, and end it."""
    monkeypatch.setenv("MEMFS_SERVICE_MODE", "auto")
    running.begin()
    yield edited
    running.end_all(home)


def test_neither_the_service_nor_the_mcp_server_keeps_it(
    served: list[Path], begun: Place, repo: Path
) -> None:
    for label in ("human", "session:working"):
        program.asked(repo, "core_memory_append", label=label, content=SAID)
    for text in (SAID, "where do gophers dig tunnels?", "show the rules again"):
        served[1].write_text(f"{served[1].read_text()}more\n")
        running.hook(running.payload(repo, "UserPromptSubmit", text))
    assert TOKEN in program.hook(repo, "SessionStart"), "it is in a file of the user"
    check(begun, *served)


def test_a_purge_takes_it_everywhere(edited: list[Path], begun: Place, repo: Path) -> None:
    for door in (*ways.EVENTS, cli("edit rules --append more")):
        ways.go_through(door, repo)
    assert {edited[0], edited[-1]} <= list_keeping(begun) <= set(edited)
    ways.go_through(cli("doctor --secrets --purge -y"), repo)
    check(begun)
    told = [ways.go_through(door, repo)[1] for door in (*ways.EVENTS, *ways.COMMANDS)]
    assert "[redacted:github-token]" in "".join(told)
    assert TOKEN not in "".join(told)


SMALL = "shp" + "at_" + "3f9a1c7e5b2d8064" * 2
UNSEEN = "\u200b".join((TOKEN[:9], TOKEN[9:20], "\u00ad" + TOKEN[20:]))


@pytest.mark.parametrize(
    "words",
    [
        ("source", "add", SMALL, "docs"),
        ("team", "never", SMALL),
        ("create", SMALL, "x", "--description", SMALL),
        ("static", "add", SMALL, SMALL),
        ("archive", "add", f"the key is {SMALL}", "--tag", SMALL),
        ("archive", "add", f"the key is {UNSEEN}"),
        ("edit", "human", "--append", f"the key is {UNSEEN}"),
    ],
    ids=str,
)
def test_no_spelling_of_a_token_is_kept(begun: Place, repo: Path, words: tuple[str, ...]) -> None:
    ways.go_through(Door("cli", words), repo)
    index_sources.sync(begun, embed=False)
    for path in (path for store in begun.stores() for path in Path(store.root).rglob("*")):
        assert SMALL not in str(path)
        text = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
        assert SMALL not in text
        assert TOKEN[:9] not in text.replace("\u200b", "")


def test_the_id_of_a_message_is_no_place_for_it(begun: Place, repo: Path) -> None:
    lines = (FIXTURES / "claude/basic.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    for number, line in enumerate(found):
        line |= {"uuid": f"{TOKEN}{number}", "sessionId": "another"}
    (repo / "ids.jsonl").write_text("".join(json.dumps(line) + "\n" for line in found))
    before = len([path for path in Path(begun.home.local).rglob("*.jsonl") if path.is_file()])
    assert ways.go_through(cli("ingest ids.jsonl"), repo)[0] == 0
    assert len(list(Path(begun.home.local).rglob("*.jsonl"))) > before
    check(begun)
