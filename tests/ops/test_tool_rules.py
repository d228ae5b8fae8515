"""Blocks about files and commands, at the calls of an assistant's own tools."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs import hosts
from memfs.core import events
from memfs.core.body_edits import Create, Describe
from memfs.core.events import Event, Reply
from memfs.core.records import Origin
from memfs.ops import brief, edit, tool_rules
from memfs.ops import trust as trust_op
from memfs.store import blocks, enforced_rules, sessions
from memfs.store.blocks import Place
from tests.hook.calls import answer, call, payload
from tests.ops.clones import committed, git

BlockFile = Callable[[str, str], Path]
API = "---\ndescription: How we write the API\npaths: src/api/**\n---\nErrors are problem+json.\n"
PUSH = (
    "---\ndescription: Pushing\nenforce: deny\ncommands: ['git push']\npaths: [\"*.lock\"]\n---\n"
    "Nobody pushes but CI.\n"
)


def opened(repo: Path, *files: str, host: str = "claude", agent: str = "") -> Event:
    event = Event(host, hosts.get(host).TELLS, "PreToolUse", "s1", str(repo))
    event.opened, event.agent = files, agent
    return event


def tell(place: Place, event: Event) -> str:
    """Return what a call is told, and note it as the hook does."""
    served = Place(place.project, place.user, event.session)
    found = tool_rules.answer(served, event, hosts.get(event.host))
    tool_rules.note_given(served, found)
    return found.reply.context


def decide(place: Place, command: str = "", file: str = "", host: str = "claude") -> Reply:
    event = Event(host, events.BEFORE, "PreToolUse", "s1", place.home.top)
    event.command, event.files, event.opened = command, (file,), (file,)
    if not file:
        event.files = event.opened = ()
    return tool_rules.answer(place, event, hosts.get(host)).reply


def accept(place: Place) -> None:
    trust_op.accept_rules(place, trust_op.describe_rules(place))


def test_a_block_with_paths_comes_once_with_a_file_and_again_with_the_brief(
    place: Place, repo: Path, block_file: BlockFile
) -> None:
    block_file("api", API)
    assert tell(place, opened(repo, "README.md")) == ""
    assert tell(place, opened(repo, "/etc/src/api/x.py")) == ""
    text = tell(place, opened(repo, f"{repo}/src/api/client.py"))
    assert text.startswith("# Core memory for src/api/client.py\n## [API] ")
    assert "Errors are problem+json." in text
    assert tell(place, opened(repo, "src/api/other.py")) == "", "once in a session"
    assert "problem+json" in tell(place, opened(repo, "src/api/x.py", agent="a1")), "a subagent's"
    api = edit.run(place, [Describe("api", {"description": "Shorter"})], Origin())
    assert isinstance(api, edit.Edited)
    assert "Shorter" in tell(place, opened(repo, "src/api/x.py")), "it changed"
    brief.start(Place(place.project, place.user, "s1"))
    assert "Shorter" in tell(place, opened(repo, "src/api/x.py")), "the context begins anew"


def test_what_is_known_to_hold_no_secret_is_not_looked_at_again(
    place: Place, repo: Path, block_file: BlockFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The detector is more than half of the time of such a hook."""
    block_file("api", API)
    assert tell(place, opened(repo, "src/api/x.py"))
    monkeypatch.delattr("memfs.secrets.detector")
    monkeypatch.setitem(sys.modules, "memfs.secrets.detector", None)
    later = opened(repo, "src/api/x.py")
    later.session = "s2"
    assert "problem+json" in tell(place, later)


@pytest.mark.parametrize(
    "raw",
    [
        f"\ufeff{API}".encode(),
        API.replace("\n", "\r\n").encode(),
        API.replace("paths:", '"paths" :').encode(),
        b"---\n{paths: src/api/**}\n---\nErrors are problem+json.\n",
        API.encode("utf-16"),
    ],
)
def test_a_block_is_in_the_brief_or_comes_with_its_files_however_it_is_written(
    place: Place, repo: Path, block_file: BlockFile, raw: bytes
) -> None:
    block_file("api", "").write_bytes(raw)
    briefed = "problem+json" in brief.start(place).context
    assert ("problem+json" in tell(place, opened(repo, "src/api/x.py"))) != briefed


@pytest.mark.parametrize("name", ["\ud800.py", f"{'x' * 9000}.py", "x\n## [HUMAN] 1/2.py", "\0"])
def test_a_strange_name_of_a_file_is_one_short_line(
    repo: Path, block_file: BlockFile, name: str
) -> None:
    block_file("api", API)
    given = {"file_path": f"src/api/{name}"}
    reply = call(payload(repo, "PreToolUse", tool_name="Read", tool_input=given))
    assert reply[1] == b""
    if "\0" not in name:
        told = json.loads(reply[0])["hookSpecificOutput"]["additionalContext"]
        heading, block, *_ = told.split("\n")
        assert len(heading) < 250
        assert block.startswith("## [API]")


def test_the_brief_lists_it_with_its_globs(place: Place, repo: Path, block_file: BlockFile) -> None:
    block_file("api", API)
    block_file("odd", "---\ndescription: d\npaths: 'src/{a'\n---\nThis one is always told.\n")
    text = brief.start(place).context
    assert "Other memory: api (24 chars, for src/api/**)" in text
    assert "problem+json" not in text
    assert "This one is always told." in text, "a broken glob hides nothing"
    assert tell(place, opened(repo, "src/a")) == ""


def test_a_command_that_names_a_file_brings_its_block(
    place: Place, repo: Path, block_file: BlockFile
) -> None:
    block_file("api", API)
    event = opened(repo)
    event.command = "cd . && sed -n 1,20p src/api/client.py"
    assert tell(place, event) == "", "there is no such file"
    (repo / "src/api").mkdir(parents=True)
    (repo / "src/api/client.py").touch()
    assert "problem+json" in tell(place, event)


@pytest.mark.parametrize("mode", ["off", "rules"])
def test_what_comes_with_a_file_can_be_turned_off(
    place: Place, repo: Path, block_file: BlockFile, mode: str
) -> None:
    block_file("api", API)
    (repo / ".agent-memory/config.yaml").write_text(f"memfs: 1\nhooks:\n  files: {mode}\n")
    assert ("problem+json" in tell(place, opened(repo, "src/api/x.py"))) == (mode == "rules")


def test_only_what_a_person_accepted_is_enforced(
    place: Place, repo: Path, block_file: BlockFile
) -> None:
    path = block_file("push", PUSH)
    assert decide(place, "git push").refusal == "", "nobody accepted it"
    wanted = ("project:push", "deny: git push; deny writing: *.lock")
    assert trust_op.describe_rules(place) == (wanted,)
    accept(place)
    assert trust_op.describe_rules(place) == ()
    reply = decide(place, "cd x && git push origin main")
    rule = "A rule from this project's memory (push, 2026-05-03): Nobody pushes but CI."
    assert reply.refusal == rule
    assert not reply.asks
    assert decide(place, "git pull").refusal == ""
    assert decide(place, file=f"{repo}/a/yarn.lock").refusal
    assert decide(place, file=f"{repo}/a/yarn.py").refusal == ""
    (repo / "yarn.lock").touch()
    (repo / "link.txt").symlink_to("yarn.lock")
    assert decide(place, file=f"{repo}/link.txt").refusal, "by the name of what is written"
    path.write_text(PUSH.replace("git push", "git *"))
    assert decide(place, "git push").refusal == "", "it is another one now"
    path.write_text(PUSH.replace("CI", "Rita"))
    assert "Rita" in decide(place, "git push").refusal, "its text may change"


@pytest.mark.parametrize("broken", ["'git {push'", "5", "[[x]]", "''"])
def test_a_broken_glob_refuses_nothing(place: Place, block_file: BlockFile, broken: str) -> None:
    block_file("push", f"---\nenforce: deny\ncommands: {broken}\n---\nNo.\n")
    accept(place)
    assert decide(place, "git push").refusal == ""


def test_a_question_is_one_where_the_host_can_ask_and_else_the_text_is_told(
    place: Place, block_file: BlockFile
) -> None:
    block_file("push", PUSH.replace("deny", "ask"))
    accept(place)
    asked = decide(place, "git push")
    assert asked.asks
    assert "Nobody pushes but CI." in asked.refusal
    told = decide(place, "git push", host="codex")
    assert told.refusal == ""
    assert told.context.startswith("# Core memory for this command\n## [PUSH]")
    assert decide(place, "git push", host="opencode").context == "", "it is told after the call"
    block_file("all", "---\nenforce: deny\ncommands: git *\n---\nNo git.\n")
    accept(place)
    assert "No git." in decide(place, "git push").refusal, "a refusal goes before a question"


def test_a_clone_that_is_not_trusted_tells_and_refuses_nothing_and_trust_accepts(
    place: Place, repo: Path, block_file: BlockFile, clone: Path
) -> None:
    block_file("api", API)
    block_file("push", PUSH)
    accept(place)
    committed(place, repo)
    git(clone, "pull", "-q")
    push = payload(clone, "PreToolUse", tool_name="Bash", tool_input={"command": "git push"})
    read = payload(clone, "PreToolUse", tool_name="Read", tool_input={"file_path": "src/api/x"})
    assert (call(push), call(read)) == ((b"", b""), (b"", b""))
    there = blocks.find_place(str(clone))
    trust_op.accept(there, trust_op.review_store(there))
    reply = json.loads(answer(push))["hookSpecificOutput"]
    assert reply["permissionDecision"] == "deny"
    assert "Nobody pushes but CI." in reply["permissionDecisionReason"]
    told = json.loads(answer(read))["hookSpecificOutput"]["additionalContext"]
    assert "problem+json" in told


def test_an_assistant_that_writes_a_rule_does_not_enforce_it(place: Place, repo: Path) -> None:
    path = repo / ".agent-memory/blocks/mine.md"
    edit.run(place, [Create("mine", "d", PUSH)], Origin("agent", "claude", "s1"))
    assert enforced_rules.list_wanted(place) == [], "what a tool writes is text"
    path.write_text(PUSH)
    assert decide(place, "git push").refusal == ""
    assert len(enforced_rules.list_pending(place)) == 1


def test_a_refusal_is_one_line_whatever_the_name_of_its_file(
    place: Place, block_file: BlockFile
) -> None:
    block_file("x): yes\n# [HUMAN", PUSH)
    accept(place)
    refusal = decide(place, "git push").refusal
    assert "\n" not in refusal
    assert refusal.endswith("Nobody pushes but CI.")


def test_what_could_not_be_delivered_is_given_again(
    place: Place, repo: Path, block_file: BlockFile
) -> None:
    block_file("api", API)
    read = payload(repo, "PreToolUse", tool_name="Read", tool_input={"file_path": "src/api/x"})
    served = Place(place.project, place.user, "s1")
    event = opened(repo, "src/api/x")
    two = [tool_rules.answer(served, event, hosts.get("claude")) for _ in range(2)]
    assert b"problem+json" in call(read)[0], "answering notes nothing"
    assert call(read) == (b"", b"")
    assert [tool_rules.note_given(served, each) for each in two] == [False, False], "it has it"
    sessions.forget_shown(place.home, "s1")
    assert b"problem+json" in call(read)[0]
