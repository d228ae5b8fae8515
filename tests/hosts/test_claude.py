"""memfs in the real Claude Code: what the model is sent, and what is remembered of it."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from memfs.hosts import claude_transcript, settings
from tests.e2e import remembered
from tests.hosts.claude_cli import ClaudeCode
from tests.hosts.project import BIN, Project
from tests.hosts.scripted_model import ScriptedModel, ToolUse, last_user_text, texts

pytestmark = pytest.mark.host


class Wired(Project):
    """A project that is wired to Claude Code."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.memfs("install", "claude")

    def claude(self, model: ScriptedModel) -> ClaudeCode:
        path = f"{BIN}:/usr/bin:/bin"
        return ClaudeCode(self.home, self.repo, model.url, path=path)


@pytest.fixture
def project(tmp_path: Path) -> Wired:
    return Wired(tmp_path)


def everything(request: dict[str, object]) -> str:
    return "\n".join(texts(request))


def test_the_next_session_is_told_where_the_last_one_stopped(project: Wired) -> None:
    with ScriptedModel(["Tabs, then.", "The crab is left to do.", "ok", "ok"]) as model:
        claude = project.claude(model)
        claude.run("please indent the gopher module with tabs")
        claude.resume("and now the crab module as well")
        project.memfs("search", "crab")
        claude.run("hello")
        claude.run("hello again")
    assert "> asked: and now the crab module as well\n" in everything(model.requests[2])
    assert "> open: The crab is left to do.\n" in everything(model.requests[2])
    assert "# The last session here" not in everything(model.requests[3])


def test_its_own_memory_is_kept_in_the_store_or_off(project: Wired) -> None:
    (project.home / ".claude").mkdir(exist_ok=True)
    with ScriptedModel(["one", "two", "three"]) as model:
        claude = project.claude(model)
        claude.run("hello")
        project.memfs("install", "claude", "--own-memory", "store")
        claude.run("hello")
        project.memfs("uninstall", "claude")
        project.memfs("install", "claude", "--own-memory", "off")
        claude.run("hello")
    kept, stored, off = (json.dumps(request) for request in model.requests)
    assert "/.claude/projects/" in kept
    assert f"{project.repo}/.agent-memory/blocks/claude" in stored
    assert "/.claude/projects/" not in stored
    assert "/.claude/projects/" not in off
    assert "blocks/claude" not in off


def test_a_resumed_session_is_given_the_whole_brief(project: Wired) -> None:
    project.memfs("edit", "human", "--append", "Name: Alice")
    with ScriptedModel(["one", "two"]) as model:
        claude = project.claude(model)
        claude.run("first prompt")
        project.memfs("edit", "human", "--replace", "Alice", "Bob")
        claude.resume("second prompt")
    assert "Name: Bob" in everything(model.requests[1])
    assert project.log() == ""


@pytest.mark.behaviour("compaction", host="claude")
def test_after_a_compaction_the_whole_brief_comes_again(project: Wired) -> None:
    project.memfs("edit", "human", "--append", "Name: Alice")
    with ScriptedModel(["one", "<summary>They said hello.</summary>", "two"]) as model:
        claude = project.claude(model)
        claude.run("first prompt")
        claude.compact()
        claude.resume("after it")
    assert "Name: Alice" in everything(model.requests[-1])
    assert project.log() == ""


def test_uninstalled_it_leaves_no_trace_in_the_settings(project: Wired) -> None:
    project.memfs("uninstall", "claude")
    assert not (project.repo / ".claude").exists()
    with ScriptedModel(["hi"]) as model:
        project.claude(model).run("hello")
    assert "Core memory" not in everything(model.requests[0])


def test_a_store_that_came_with_a_clone_is_not_in_the_request_until_trusted(project: Wired) -> None:
    project.memfs("edit", "system_rules", "--append", "The build runs on ZEPHYR-9.")
    project.memfs("trust", "--revoke")
    with ScriptedModel(["Understood.", "Understood."]) as model:
        first = project.claude(model).run("hello", "--output-format", "stream-json", "--verbose")
        project.trust()
        project.claude(model).run("hello")
    assert "ZEPHYR-9" not in everything(model.requests[0])
    assert "memfs trust" not in everything(model.requests[0])
    assert "memfs trust" in first.stdout
    assert "The build runs on ZEPHYR-9." in everything(model.requests[1])
    assert project.log() == ""


def test_a_server_that_the_project_names_is_used_once_its_user_trusts_the_folder(
    project: Wired,
) -> None:
    project.memfs("install", "claude", "--project")
    trusted = {"projects": {str(project.repo): {"hasTrustDialogAccepted": True}}}
    (project.home / ".claude.json").write_text(json.dumps(trusted))
    append = ToolUse("mcp__memfs__core_memory_append", {"label": "human", "content": "teal"})
    with ScriptedModel([append, "Noted."]) as model:
        assert project.claude(model).run("I like teal").code == 0
    assert "done: 'human' is at version 2" in everything(model.requests[1])


def test_an_edit_of_a_block_as_a_file_is_adopted_checked_and_refused_where_it_must_be(
    project: Wired,
) -> None:
    blocks = project.repo / ".agent-memory/blocks"
    fixed = blocks / "fixed.md"
    fixed.write_text("---\ndescription: d\nread_only: true\n---\nnever\n")
    project.memfs("create", "notes", "alpha", "--description", "d", "--limit", "50")
    notes = str(blocks / "notes.md")
    script: list[str | ToolUse] = [
        ToolUse("Read", {"file_path": notes}),
        ToolUse("Edit", {"file_path": notes, "old_string": "alpha", "new_string": "alpha beta"}),
        ToolUse("Edit", {"file_path": notes, "old_string": "beta", "new_string": "b" * 70}),
        ToolUse("Read", {"file_path": str(fixed)}),
        ToolUse("Edit", {"file_path": str(fixed), "old_string": "never", "new_string": "ever"}),
        "Done.",
    ]
    with ScriptedModel(script) as model:
        done = project.claude(model).run("go on", "--allowedTools", "Read,Edit")
    assert done.code == 0
    assert project.log() == ""
    assert "the limit is 50" not in everything(model.requests[2])
    assert "76 characters, the limit is 50: shorten the block by 26" in everything(
        model.requests[3]
    )
    assert "the memory block 'fixed' is read-only" in everything(model.requests[5])
    assert "never" in fixed.read_text()
    (session,) = {path.stem for path in project.claude(model).transcripts()}
    entries = json.loads(project.memfs("log", "notes", "--json"))
    told = [(entry["actor"], entry["host"], entry["session"]) for entry in entries[:2]]
    assert told == [("agent", "claude", session)] * 2


def test_the_plugin_does_what_settings_do(project: Wired) -> None:
    project.memfs("uninstall")
    project.memfs("edit", "human", "--append", "Name: Alice")
    root = Path(__file__).parents[2]
    append = {"label": "human", "content": "Likes teal"}
    call = ToolUse("mcp__plugin_memfs_memfs__core_memory_append", append)
    with ScriptedModel([call, "Noted."]) as model:
        claude = project.claude(model)
        # At the root it also looks at the hooks of the extension for Gemini CLI, whose events it
        # does not know: these are warnings.
        claude.command("plugin", "validate", str(root))
        claude.command("plugin", "validate", "--strict", str(root / "hooks/plugin"))
        claude.command("plugin", "marketplace", "add", str(root))
        claude.command("plugin", "install", "memfs@memfs")
        assert claude.run("I like teal", "--allowedTools", "mcp__plugin_memfs_memfs").code == 0
        assert claude.run("and what was it?").code == 0
    first = everything(model.requests[0])
    assert first.count("# Core memory (always available)") == 1
    assert "Name: Alice" in first
    assert "done: 'human' is at version 3" in everything(model.requests[1])
    assert "Likes teal" in everything(model.requests[-1])
    assert "I like teal" in project.memfs("search", "teal")
    assert "memfs:memory" in json.dumps(model.requests[0])
    assert project.log() == ""


def test_a_subagent_is_given_the_brief(project: Wired) -> None:
    project.memfs("edit", "human", "--append", "Name: Alice")
    look = {"description": "look", "prompt": "Look around.", "subagent_type": "general-purpose"}
    with ScriptedModel([ToolUse("Agent", look), "Nothing.", "Nothing more."]) as model:
        assert project.claude(model).run("ask a helper").code == 0
    mine = [everything(r) for r in model.requests if "Look around." in last_user_text(r)]
    assert mine
    assert "Name: Alice" in mine[0]
    assert mine[0].count("# Core memory (always available)") == 1
    assert project.log() == ""


@pytest.mark.parametrize("name", ["🚀rocket", "é_a.b", "a-long-name/" * 18 + "x"])
def test_transcripts_are_in_the_folder_that_we_compute(project: Wired, name: str) -> None:
    folder = project.home / name
    folder.mkdir(parents=True)
    with ScriptedModel(["Hello."]) as model:
        assert replace(project.claude(model), cwd=folder).run("hello").code == 0
    there, *_ = claude_transcript.READER.list_folders(str(project.home), str(folder))
    assert [each.suffix for each in Path(there).glob("*.jsonl")] == [".jsonl"]


def lay_out(folder: Path, layout: str) -> Path:
    """Make a repository, and return the folder of it that is worked in."""

    def git(where: Path, *words: str) -> None:
        subprocess.run(["git", "-C", str(where), *words], check=True, capture_output=True)

    one = folder / "one"
    one.mkdir()
    git(one, "init", "-q")
    git(
        one, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"
    )
    (one / "sub").mkdir()
    match layout:
        case "linked":
            git(one, "worktree", "add", "-q", str(folder / "two"))
            return folder / "two"
        case "bare" | "bare inside":
            bare = folder / ("all/.bare" if layout == "bare" else "all.git")
            git(folder, "clone", "-q", "--bare", str(one), str(bare))
            if layout == "bare":
                (folder / "all/.git").write_text("gitdir: ./.bare\n")
            tree = bare.parent / "two" if layout == "bare" else bare / "two"
            git(bare, "worktree", "add", "-q", "-b", "two", str(tree))
            return tree
        case "git elsewhere":
            git(folder, "clone", "-q", f"--separate-git-dir={folder}/away", str(one), "two")
            return folder / "two"
        case "no git":
            (folder / "plain").mkdir()
            return folder / "plain"
        case "link":
            (folder / "link").symlink_to(one)
            return folder / "link"
    return one / layout


LAYOUTS = ["", "sub", "linked", "bare", "bare inside", "git elsewhere", "no git", "link"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_project_has_the_key_that_we_compute(project: Wired, tmp_path: Path, layout: str) -> None:
    folder = lay_out(tmp_path, layout)
    with ScriptedModel([]) as model:
        claude = replace(project.claude(model), cwd=folder)
        claude.command("mcp", "add", "--scope", "local", "other", "/bin/true")
    known = json.loads((project.home / ".claude.json").read_text())["projects"]
    keys = [key for key, value in known.items() if "other" in value.get("mcpServers", {})]
    assert keys == [settings.find_project_key(str(folder))]


@pytest.mark.parametrize("layout", ["sub", "linked", "bare"])
def test_tools_are_there_in_each_worktree(project: Wired, tmp_path: Path, layout: str) -> None:
    project.memfs("uninstall", "claude")
    folder = lay_out(tmp_path, layout)
    project.memfs("init", cwd=folder)
    project.memfs("install", "claude", cwd=folder)
    args = {"label": "human", "content": "Name: Quentin"}
    tool = ToolUse("mcp__memfs__core_memory_append", args)
    with ScriptedModel([tool, "Noted.", "Hello."]) as model:
        claude = replace(project.claude(model), cwd=folder)
        assert claude.run("hello", "--allowedTools", "mcp__memfs").code == 0
        assert claude.run("and again").code == 0
    assert "Name: Quentin" in everything(model.requests[-1])
    for log in tmp_path.rglob("hook.log"):
        assert log.read_text() == ""


def test_what_the_user_typed_stays_whatever_it_looks_like(project: Wired) -> None:
    (project.repo / ".claude/commands").mkdir(parents=True, exist_ok=True)
    (project.repo / ".claude/commands/zeppelin.md").write_text("Say what a zeppelin is.\n")
    typed = [
        "<command-palette> does not open the zeppelin",
        "what is <system-reminder>a zeppelin</system-reminder> there for?",
        "/zeppelin",
    ]
    with ScriptedModel(["One.", "Two.", "Three."]) as model:
        with project.claude(model).conversation() as session:
            for prompt in typed:
                session.say(prompt)
    found = json.loads(project.memfs("search", "zeppelin", "--json", "-n", "50"))["hits"]
    said = {hit["text"] for hit in found if hit["role"] == "user"}
    assert {*typed} <= said
    assert not any("Say what a zeppelin is" in text for text in said)


def test_what_a_background_task_reports_is_nobodys_words(project: Wired) -> None:
    sleep = {"command": "sleep 1; echo zeppelin landed", "description": "Wait for the zeppelin"}
    task = ToolUse("Bash", {**sleep, "run_in_background": True})
    with ScriptedModel([task, "The zeppelin flies.", "A zeppelin landed.", "Yes."]) as model:
        with project.claude(model).conversation() as session:
            session.say("send the zeppelin")
            session.wait_for(lambda: len(model.requests) > 2)
            session.say("is the zeppelin back?")
    assert "task-notification" in "".join(
        path.read_text() for path in project.claude(model).transcripts()
    )
    found = json.loads(project.memfs("search", "zeppelin", "--json", "-n", "50"))["hits"]
    assert {hit["text"] for hit in found if hit["role"] == "user"} == {
        "send the zeppelin",
        "is the zeppelin back?",
    }


def test_the_first_prompt_is_answered_before_the_server_is_connected(project: Wired) -> None:
    project.memfs(
        "archive", "add", "The zephyr gateway listens on port 7741 because of the firewall."
    )
    project.memfs("search", "zephyr")  # it is indexed
    account = project.home / ".claude.json"
    slow = '"import time; time.sleep(60); import memfs.__main__"'
    account.write_text(account.read_text().replace('"import memfs.__main__"', slow))
    assert slow in account.read_text()
    with ScriptedModel(["One."]) as model:
        project.claude(model).run("what does the zephyr gateway listen on?")
    assert "because of the firewall" in json.dumps(model.requests[-1])


def test_what_was_decided_in_past_sessions_is_in_the_request(project: Wired) -> None:
    remembered.write(project.home, project.repo)
    project.memfs("ingest")
    for prompt, answer in remembered.ANSWERS.items():
        with ScriptedModel(["I know."]) as model:
            assert project.claude(model).run(prompt).code == 0
        sent = everything(model.requests[0])
        assert [each for each in answer if each not in sent] == [], prompt
    assert project.log() == ""
