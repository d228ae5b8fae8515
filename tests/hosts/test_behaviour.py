"""What memfs does in each of the real assistants, in a session of several prompts."""

import json
import subprocess
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from memfs import hosts
from memfs.hosts import jsonc_edit, settings
from tests.hosts.assistants import ALL, CLAUDE, CODEX, GEMINI, HEAD, OPENCODE, Assistant
from tests.hosts.codex_cli import AppServer
from tests.hosts.project import Project
from tests.hosts.script import Scripted
from tests.hosts.scripted_model import Json, Reply, ScriptedModel, ToolUse

pytestmark = pytest.mark.host
behaviour = pytest.mark.behaviour
each_host = pytest.mark.parametrize(
    "host",
    [
        pytest.param(
            host,
            id=host.name,
            marks=behaviour("start", "news", "compaction", lacks=host.silent)
            if host.silent
            else (),
        )
        for host in ALL
    ],
)

FULL = 600_000  # tokens; Gemini compresses from half of what its model holds on


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.memfs("edit", "human", "--append", "Name: Quentin")
    return made


def whole(request: Json) -> str:
    return json.dumps(request, ensure_ascii=False)


def found(project: Project, query: str, *words: str) -> list[tuple[str, str, str]]:
    """Who said what and when, of what a search finds."""
    hits = json.loads(project.memfs("search", query, "--json", "-n", "50", *words))["hits"]
    return [(hit["role"], hit["text"], hit["at"]) for hit in hits if hit["kind"] == "message"]


def soon(project: Project, query: str, text: str) -> bool:
    """Whether a text is found within five seconds: some do not wait for the hooks of a turn's end."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if any(each == text for _, each, _ in found(project, query)):
            return True
        time.sleep(0.2)
    return False


@behaviour("start", "news", "stop", "end", "transcript")
@each_host
def test_a_conversation_of_three_prompts(project: Project, host: Assistant) -> None:
    host.install(project, "--user")
    began = stamp()
    with ScriptedModel(["A gopher digs.", "Two.", "It whistles."]) as model:
        model.meanwhile = partial(time.sleep, 0.3)  # no model answers sooner
        with host.start(project, model).conversation() as session:
            assert session.say("what does a gopher do?") == "A gopher digs."
            assert soon(project, "gopher", "what does a gopher do?")
            assert soon(project, "digs", "A gopher digs."), "Claude Code writes it after its hooks"
            project.memfs("edit", "human", "--replace", "Quentin", "Bob")
            assert session.say("and a badger?") == "Two."
            assert session.say("and a marmot?") == "It whistles."
    asked = [whole(request) for request in model.requests]
    told = int(not host.silent)
    assert asked[0].count("Name: Quentin") == told
    assert [each.count(HEAD) for each in asked] == [told] * 3
    assert [each.count("+ Name: Bob") for each in asked] == [0, told, told]
    said = found(project, "and a marmot it whistles gopher digs", "--host", host.name)
    ended = stamp()
    assert all(began <= at[:19] <= ended for _, _, at in said)
    assert {(role, text) for role, text, _ in said} == {
        ("user", "what does a gopher do?"),
        ("assistant", "A gopher digs."),
        ("user", "and a badger?"),
        ("assistant", "Two."),
        ("user", "and a marmot?"),
        ("assistant", "It whistles."),
    }
    assert HEAD not in project.memfs("search", "responsible for maintaining your own memory")
    assert project.log() == ""


@behaviour("compaction")
@pytest.mark.parametrize(
    "host", [CODEX, *(each for each in ALL if each.compact)], ids=lambda host: host.name
)
def test_after_a_compaction_the_next_prompt_brings_the_whole_brief(
    project: Project, host: Assistant
) -> None:
    host.install(project, "--user")
    with ScriptedModel(["It is a gopher."]) as model:
        with host.start(project, model).conversation() as session:
            session.say("first prompt")
            if isinstance(session, AppServer):
                session.compact()
            else:
                session.say(host.compact)
            session.say("second prompt")
            session.say("third prompt")
    asked = [whole(request) for request in model.requests]
    assert [each.count(HEAD) for each in (asked[0], *asked[-2:])] == [1, 1, 1]
    assert "It is a gopher." not in asked[-1], "it compacted"
    assert "Name: Quentin" in asked[-1]
    assert project.log() == ""


@behaviour("compaction", host="gemini")
def test_gemini_brings_the_whole_brief_at_the_prompt_after_a_compression(project: Project) -> None:
    GEMINI.install(project, "--user")
    script: list[Scripted] = ["One.", Reply("Two.", input_tokens=FULL), "Three.", "Four.", "Five."]
    with ScriptedModel(script) as model:
        with GEMINI.start(project, model).conversation() as session:
            for number in range(5):
                session.say(f"prompt {number}")
    asked = [whole(request) for request in model.requests]
    assert "prompt 0" not in asked[2], "it compressed"
    assert [each.count(HEAD) for each in asked] == [1, 1, 0, 1, 1]
    assert project.log() == ""


@behaviour("once", "tools")
@each_host
def test_nothing_comes_twice_where_all_are_wired_for_the_project_and_the_user(
    project: Project, host: Assistant, tmp_path: Path
) -> None:
    trusted = project.home / ".codex/config.toml"  # without that, it looks at no hooks of a project
    trusted.parent.mkdir()
    trusted.write_text(f'[projects."{project.repo}"]\ntrust_level = "trusted"\n')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for each in ALL:
        each.install(project, "--project")
        each.install(project, "--user", cwd=elsewhere)  # in the project it would move
    project.memfs("archive", "add", "The shop listens on port 8080.")
    project.memfs("search", "shop")  # makes the index
    script: list[Scripted] = [host.call(label="human", content="Likes teal"), "8080."]
    began = len(project.history("human"))
    with ScriptedModel(script) as model, host.start(project, model) as program:
        done = program.run("on which port does the shop listen?", *host.args)
        assert done.code == 0, done.stderr
        asked = [whole(request) for request in model.requests]
    told = int(not host.silent)
    for once in (HEAD, "Name: Quentin"):
        assert [each.count(once) for each in asked] == [told, told], once
    # Where a start and a prompt are asked at once the brief is all there is.
    assert asked[-1].count("The shop listens on port 8080.") <= 1
    assert "done: 'human' is at version 3" in asked[-1]
    edits = project.history("human")[: -began or None]
    assert [(e["actor"], e["host"], e["op"]) for e in edits] == [("agent", host.name, "append")]
    assert edits[0]["session"] == program.sessions()[0]
    said = [(role, text) for role, text, _ in found(project, "shop port 8080")]
    assert said.count(("user", "on which port does the shop listen?")) == 1
    assert said.count(("assistant", "8080.")) == 1
    assert project.log() == ""


def stamp() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())


@behaviour("failure", "hang")
@each_host
def test_hooks_that_fail_or_hang_leave_the_session_undisturbed(
    project: Project, host: Assistant, tmp_path: Path
) -> None:
    slow = tmp_path / "slow"  # where git hangs, while it is told to
    slow.mkdir()
    git = slow / "git"
    ours = '[ "$1 $3" = "-C --no-pager" ]'  # assistants run git as well
    git.write_text(
        f'#!/bin/sh\n[ -e {slow}/hangs ] && {ours} && exec sleep 40\nexec /usr/bin/git "$@"\n'
    )
    git.chmod(0o755)
    host.install(project, "--user", "--no-mcp")
    faults = Faults(project, slow / "hangs")
    project.python.gone()  # at the start of the session, too
    with ScriptedModel() as model:
        model.meanwhile = faults.mend
        with host.start(project, model, path=str(slow)).conversation() as session:
            for name, most in faults.ALL.items():
                getattr(faults, name)()
                model.answer_with(f"Answer: {name}.")
                began = time.monotonic()
                assert session.say(f"prompt: {name}") == f"Answer: {name}."
                assert faults.mended - began < most, name
    asked = [whole(request) for request in model.requests]
    # Where no block can be read the brief comes without them: they follow once they can be.
    told = int(not host.silent)
    assert [each.count(HEAD) for each in asked] == [0] * 3 + [told] * 4
    assert [each.count("## [PERSONA]") for each in asked] == [0] * 6 + [told]
    assert host.silent or "out of time" in project.log()


class Faults:
    """What goes wrong with our hooks, each until the model is asked."""

    # Seconds that a prompt may take: for the machine, and what our own alarm or the host's has.
    ALL: Final = {
        "none_there": 10,
        "fails": 10,
        "is_killed": 10,
        "broken_store": 10,
        "hangs_in_git": 10 + 5,
        "hangs": 10 + 10,
        "works": 10,
    }

    def __init__(self, project: Project, git_hangs: Path) -> None:
        self._project = project
        self._git_hangs = git_hangs
        self.mended = 0.0

    def none_there(self) -> None:
        self._project.python.gone()

    def fails(self) -> None:
        self._project.python.does("exit 1")

    def is_killed(self) -> None:
        self._project.python.does("kill -9 $$")

    def broken_store(self) -> None:
        """Leave nothing of the stores that can be read."""
        for store in (self._project.repo, self._project.home):
            folder = store / ".agent-memory/blocks"
            folder.rename(folder.with_name("away"))
            folder.symlink_to(folder)

    def hangs_in_git(self) -> None:
        """Have what the hook asks not answer, so that its own alarm has to end it."""
        (self._project.repo / "notes").touch()  # git's index moves: what came with it is looked at
        subprocess.run(["git", "-C", str(self._project.repo), "add", "notes"], check=True)
        self._git_hangs.touch()

    def hangs(self) -> None:
        self._project.python.does("exec sleep 40")

    def works(self) -> None:
        pass

    def mend(self) -> None:
        self.mended = time.monotonic()
        self._git_hangs.unlink(missing_ok=True)
        for store in (self._project.repo, self._project.home):
            folder = store / ".agent-memory/blocks"
            if folder.is_symlink():
                folder.unlink()
                folder.with_name("away").rename(folder)
        self._project.python.works()


@pytest.mark.parametrize(
    "host", [each for each in ALL if each is not OPENCODE], ids=lambda host: host.name
)
@pytest.mark.parametrize("broken", ["", *jsonc_edit.EXTRAS])
def test_a_file_that_we_say_is_ignored_is_ignored(
    tmp_path: Path, host: Assistant, broken: str
) -> None:
    project = Project(tmp_path)
    host.install(project, "--user")
    path = Path(hosts.get(host.name).wiring("user", str(project.home), "")[0][0])
    text = path.read_text().strip()
    spoilt = {
        jsonc_edit.MARK: f"\ufeff{text}",
        jsonc_edit.COMMENT: f"// mine\n{text}",
        jsonc_edit.COMMA: f"{text[:-1].rstrip()},\n}}\n",
    }
    written = spoilt.get(broken, text)
    path.write_text(written)
    with ScriptedModel(["One."] * 3) as model:
        host.start(project, model).run("where is the zeppelin?", *host.args)
    told = HEAD in json.dumps(model.requests, ensure_ascii=False)
    is_read = bool(found(project, "zeppelin")) if host.silent else told
    assert is_read != bool(settings.find_ignored(hosts.get(host.name), written, str(path)))
    assert is_read == (broken not in hosts.get(host.name).IGNORES)


def move(project: Project, there: Path, host: Assistant, model: ScriptedModel) -> None:
    """Begin a session in the project, and go on with it in another folder."""
    one = host.start(project, model)
    if host is CLAUDE:  # its shell moves, and its hooks name the folder of the shell
        args = ("--add-dir", str(there), "--allowedTools", "Bash")
        assert one.run("where is the zeppelin?", *args).code == 0
        return
    assert one.run("where is the zeppelin?", *host.args).code == 0
    resumed = (*host.args, "resume", one.sessions()[0])
    assert replace(one, cwd=there).run("and the next zeppelin?", *resumed).code == 0


@pytest.mark.parametrize("host", [CLAUDE, CODEX], ids=lambda host: host.name)
def test_a_session_that_moves_is_of_the_project_it_began_in(
    project: Project, host: Assistant
) -> None:
    there = project.home / "there"
    subprocess.run(["git", "init", "-q", str(there)], check=True)
    project.memfs("init", cwd=there)
    host.install(project, "--user")
    goes = {"command": f"cd {there} && pwd", "description": "Go there"}
    script: list[Scripted] = [ToolUse("Bash", goes)] if host is CLAUDE else []
    with ScriptedModel([*script, "The zeppelin is there.", "The next zeppelin, too."]) as model:
        move(project, there, host, model)
    said = {text for role, text, _ in found(project, "zeppelin") if role != "tool"}
    assert {"where is the zeppelin?", "The zeppelin is there."} <= said
    assert host is CLAUDE or {"and the next zeppelin?", "The next zeppelin, too."} <= said
    elsewhere = json.loads(project.memfs("search", "zeppelin", "--json", cwd=there))["hits"]
    assert not [hit for hit in elsewhere if hit["kind"] == "message"]
    assert project.log() == ""


# The lines for the person: no model reads them, and people do.
LINES = (
    "memfs: 3 blocks",
    "memfs: recalled 1 passage (see memfs last)",
    "memfs: saved to 'human': Likes teal (undo with memfs undo human)",
)
# What a headless run prints of them; Codex has them as warnings in its own protocol, opencode as
# toasts, Copilot and Grok show none.
FLAGS = {"claude": ("--output-format", "stream-json", "--verbose")}
SHOWN = {"claude": LINES[1:], "gemini": LINES, "qwen": LINES[2:]}


@pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
def test_a_person_is_told_and_no_model(tmp_path: Path, host: Assistant) -> None:
    project = Project(tmp_path)
    host.install(project, "--user", found=True)
    project.memfs("archive", "add", "The shop listens on port 8080.")
    project.memfs("search", "shop")  # makes the index
    with ScriptedModel([host.call(label="human", content="Likes teal"), "8080."]) as model:
        asked = ("on which port does the shop listen?", *host.args, *FLAGS.get(host.name, ()))
        done = host.start(project, model).run(*asked)
    assert done.code == 0, done.stderr
    read = json.dumps(model.requests, ensure_ascii=False)
    assert "done: 'human' is at version" in read
    assert not [line for line in LINES if line.removeprefix("memfs: ") in read]
    printed = done.stdout + done.stderr
    assert not [line for line in SHOWN.get(host.name, ()) if line not in printed]
    assert project.log() == ""
