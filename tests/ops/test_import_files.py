"""Import of what other tools keep: each file becomes a block or passages, once, and stays as it is."""

import os
from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Describe
from memfs.core.errors import NotFoundError, StoreError
from memfs.core.records import Origin
from memfs.hosts.marked_section import MARKS
from memfs.importers import foreign_files, importing
from memfs.importers.importing import Imported
from memfs.importers.plan import ImportedFile
from memfs.ops import edit, undo
from memfs.store import archive, blocks
from memfs.store.blocks import Place
from tests.ops.clones import git
from tests.ops.imports import BY, everything, outcomes, refusals
from tests.ops.test_purge import SECRET

LONG = "# Guide\n\nStart here.\n\n" + "".join(
    f"## Part {n}\n\n" + f"Rule {n} is to be kept. " * 60 + "\n\n" for n in range(5)
)


def put(repo: Path, name: str, text: str | bytes) -> Path:
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (1_767_225_600, 1_767_225_600))  # 2026-01-01
    return path


def bring(
    place: Place, *paths: str | Path, user: bool = False, pin: bool = False, dry_run: bool = False
) -> Imported:
    home, named = os.environ["HOME"], tuple(map(str, paths))
    return importing.import_files(place, named, BY, home=home, user=user, pin=pin, dry_run=dry_run)


def became(done: Imported) -> dict[str, str]:
    """What each file became: a label, how many passages, or why it did not."""

    def of(each: ImportedFile) -> str:
        return each.left or (each.label if each.block else f"{len(each.files)} passages")

    return {each.path: of(each) for each in done.files}


def auto_memory(repo: Path, home: Path) -> Path:
    slug = "".join(c if c.isalnum() else "-" for c in str(repo))
    return home / ".claude/projects" / slug / "memory"


def test_every_tool_s_files_are_found_and_named_and_nothing_is_written(
    place: Place, repo: Path, home: Path
) -> None:
    names = {
        "CLAUDE.md": "claude",
        "AGENTS.md": "agents",
        "GEMINI.md": "gemini",
        "MEMORY.md": "memory",
        ".claude/CLAUDE.md": "claude/folder",
        ".github/copilot-instructions.md": "copilot",
        ".github/instructions/py.instructions.md": "copilot/py",
        ".cursorrules": "cursor",
        ".cursor/rules/ui/Forms & Co.mdc": "cursor/ui/forms-co",
        ".claude/rules/api/db.md": "claude/api/db",
        ".clinerules/tests.md": "cline/tests",
        ".windsurfrules": "windsurf",
        ".windsurf/rules/go.md": "windsurf/go",
        "memory-bank/activeContext.md": "memory-bank/active-context",
        ".serena/memories/style.md": "serena/style",
        ".claude/memory/MEMORY.md": "claude-memory",
    }
    for name in names:
        put(repo, name, f"# About {name}\n")
    put(auto_memory(repo, home), "debugging.md", "Use the debugger.\n")
    slug = auto_memory(repo, home).relative_to(home)
    before = everything(place)
    done = bring(place)
    assert became(done) == {**names, f"~/{slug}/debugging.md": "claude-memory/debugging"}
    assert {item.outcome for item in done.items} == {"new"}
    assert everything(place) == before
    names[".windsurf/rules"] = ""  # as a file it is known, too
    for name in names:
        assert foreign_files.is_text_path(name)


def test_a_text_that_fits_becomes_a_block_that_is_not_pinned(place: Place, repo: Path) -> None:
    path = put(repo, "CLAUDE.md", b"\xef\xbb\xbf# Our shop\r\n\r\nUse pnpm.\r\n")
    before = path.read_bytes()
    done = bring(place, path)
    block = blocks.get(place, "claude")
    assert block.value == "# Our shop\n\nUse pnpm."
    assert (block.description, block.pinned) == ("Our shop", False)
    assert (block.limit, block.meta["source"]) == (5000, "CLAUDE.md")
    assert [entry.reason for entry in done.entries] == [BY.reason]
    assert path.read_bytes() == before
    undo.undo_edit(place, "claude", Origin())
    assert blocks.resolve_label(place, "claude") is None


def test_pinned_if_asked_for_and_as_many_as_may_be(
    place: Place, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMFS_MAX_BLOCKS", "4")
    for name in ("CLAUDE.md", "AGENTS.md"):
        put(repo, name, f"Use {name}.")
    done = bring(place, repo, pin=True)
    assert [blocks.get(place, name).pinned for name in ("agents", "claude")] == [True, False]
    assert done.unpinned == ("claude",)


def test_again_it_is_the_same_also_for_a_block_that_was_pinned_described_and_added_to(
    place: Place, repo: Path
) -> None:
    put(repo, "CLAUDE.md", "Use pnpm.\n")
    put(repo, "AGENTS.md", LONG)
    bring(place, repo)
    edit.run(place, [Describe("claude", {"pinned": True, "description": "mine"})], Origin())
    edit.run(place, [Append("claude", "And node 20.")], Origin())
    before = everything(place)
    again = bring(place, repo)
    assert {item.outcome for item in again.items} == {"same"}
    assert everything(place) == before
    put(repo, "CLAUDE.md", "Use pnpm.\nUse vitest.\n")
    assert outcomes(bring(place, repo / "CLAUDE.md")) == {"claude": "merged"}
    block = blocks.get(place, "claude")
    assert set(block.value.split("\n")) == {"Use pnpm.", "And node 20.", "Use vitest."}
    assert (block.description, block.pinned) == ("mine", True)


def test_a_longer_text_becomes_passages_that_say_where_they_are_from(
    place: Place, repo: Path
) -> None:
    put(repo, "CLAUDE.md", LONG)
    assert became(bring(place, "CLAUDE.md")) == {"CLAUDE.md": "6 passages"}
    found = [archive.read(path) for path in archive.sources(place.home)]
    assert {f"{each.text.split('.')[0]}." for each in found if each} == {
        "Guide\n\nStart here.",
        *(f"Guide > Part {n}\n\nRule {n} is to be kept." for n in range(5)),
    }
    assert {(p.created_at, p.source, p.tags) for p in found if p} == {
        ("2026-01-01T00:00:00Z", "CLAUDE.md", ("claude",))
    }
    assert all("/2026-01/claude-" in path for path in archive.sources(place.home))
    put(repo, "CLAUDE.md", LONG.replace("Rule 3", "Law 3"))
    assert sorted(outcomes(bring(place, "CLAUDE.md")).values()) == ["new", *["same"] * 5]


def test_a_text_that_outgrew_its_block_is_pointed_out(place: Place, repo: Path) -> None:
    put(repo, "CLAUDE.md", "Use pnpm.\n")
    assert bring(place, "CLAUDE.md").note == ""
    put(repo, "CLAUDE.md", LONG)
    note = "now too long for a block, so the earlier block stays: claude"
    assert bring(place, "CLAUDE.md").note == note
    assert blocks.get(place, "claude").value == "Use pnpm."


@pytest.mark.parametrize(
    ("head", "description", "paths"),
    [
        (
            "description: UI\nglobs: *.ts,a/*.{ts,vue}\nalwaysApply: false",
            "UI",
            ["*.ts", "a/*.{ts,vue}"],
        ),
        ('description: "UI: forms"\nglobs: ["*.ts", "*.tsx"]', "UI: forms", ["*.ts", "*.tsx"]),
        ("description: a: b\nglobs:\n  - *.ts\n  - *.tsx", "a: b", ["*.ts", "*.tsx"]),
        ("description:\nglobs:\nalwaysApply: true", "Forms", []),
        ("globs: *.ts\nalwaysApply: true", "Forms", []),
        ("applyTo: '**/*.py'", "Forms", ["**/*.py"]),
        ("applyTo: '**'", "Forms", []),
        ("trigger: glob\nglobs: src/*", "Forms", ["src/*"]),
    ],
)
def test_front_matter_of_rules_is_never_lost(
    place: Place, repo: Path, head: str, description: str, paths: list[str]
) -> None:
    put(repo, ".cursor/rules/forms.mdc", f"---\n{head}\n---\n\n# Forms\n\nUse ours.\n")
    bring(place, ".cursor")
    block = blocks.get(place, "cursor/forms")
    assert (block.description, block.value) == (description, "# Forms\n\nUse ours.")
    assert (block.scope.paths, block.problem) == (paths, "")
    for key in ("alwaysApply", "trigger"):
        assert (key in block.meta) == (key in head)
    put(repo, ".cursor/rules/forms.mdc", f"---\n{head}\n---\n{LONG}")
    bring(place, ".cursor/rules/forms.mdc")
    first = next(path for path in archive.sources(place.home) if "-guide-" in path)
    passage = archive.read(first)
    assert passage
    assert ("(for " in passage.text) == bool(paths)


def test_what_claude_remembers_of_its_user_is_private(place: Place, repo: Path, home: Path) -> None:
    folder = auto_memory(repo, home)
    put(folder, "user_role.md", "---\nname: Role\ndescription: d\ntype: user\n---\nA surgeon.\n")
    put(folder, "notes.md", "---\nname: x\nmetadata:\n  type: user\n---\nLikes tea.\n")
    put(folder, "user_likes.md", "Likes brevity.\n")
    head = "---\nname: Tests\ndescription: Real\ntype: feedback\n---\n"
    put(folder, "feedback_tests.md", f"{head}No mocks.\n")
    put(folder, "MEMORY.md", "- [Role](user_role.md): a surgeon\n- [Tests](feedback_tests.md)\n")
    put(repo, "CLAUDE.local.md", "My sandbox.\n")
    done = bring(place, repo, folder)
    private = "private: add --user to import it into your own store"
    found = {Path(path).name: what for path, what in became(done).items()}
    assert found == {
        "CLAUDE.local.md": private,
        "user_role.md": private,
        "notes.md": private,
        "user_likes.md": private,
        "MEMORY.md": "claude-memory",
        "feedback_tests.md": "claude-memory/feedback_tests",
    }
    assert blocks.get(place, "claude-memory").value == "- [Tests](feedback_tests.md)"
    topic = blocks.get(place, "claude-memory/feedback_tests")
    assert (topic.description, topic.tags, topic.meta["name"]) == ("Real", ["feedback"], "Tests")
    assert topic.meta["source"] == "claude-memory: feedback_tests.md"
    assert not any(b"surgeon" in data for data in everything(place).values())
    bring(place, repo / "CLAUDE.local.md", folder, user=True)
    assert blocks.get(place, "user:claude-local/repo").value == "My sandbox."
    assert blocks.get(place, "user:claude-memory/user_role").value == "A surgeon."
    assert "surgeon" in blocks.get(place, "user:claude-memory").value


def test_our_own_section_is_left_out(place: Place, repo: Path) -> None:
    ours = f"{MARKS[0]}\nthe brief\n{MARKS[1]}\n"
    put(repo, "AGENTS.md", f"Use pnpm.\n\n{ours}")
    put(repo, "GEMINI.md", ours)
    put(repo, ".cursor/rules/memfs.mdc", f"---\ndescription: d\nalwaysApply: true\n---\n{ours}")
    put(repo, "CLAUDE.md", f"half\n{MARKS[0]}\n")
    done = bring(place)
    assert became(done) == {
        "AGENTS.md": "agents",
        "GEMINI.md": "written by memfs sync",
        ".cursor/rules/memfs.mdc": "written by memfs sync",
        "CLAUDE.md": f"the memfs section in the file is damaged (line 2 has {MARKS[0]}, but {MARKS[1]} is missing)",
    }
    bring(place, "AGENTS.md")
    assert blocks.get(place, "agents").value == "Use pnpm."


def test_files_that_are_imported_are_named_and_not_followed(place: Place, repo: Path) -> None:
    put(repo, "GEMINI.md", "@AGENTS.md\n")
    said = "See @docs/a.md, @~/x and a@b.md.\n`@no.md`\n```\n@no.md\n```\n@core/lib\n"
    put(repo, "AGENTS.md", said)
    done = bring(place)
    assert became(done) == {
        "AGENTS.md": "agents",
        "GEMINI.md": "contains only imports of other files: AGENTS.md",
    }
    assert [each.imports for each in done.files if each.files] == [("docs/a.md", "~/x")]


def test_the_same_text_is_taken_once(place: Place, repo: Path) -> None:
    put(repo, "CLAUDE.md", "Use pnpm.\n")
    (repo / "AGENTS.md").symlink_to("CLAUDE.md")
    same = "same text as CLAUDE.md"
    assert became(bring(place)) == {"CLAUDE.md": "claude", "AGENTS.md": same}


def test_what_cannot_be_taken_is_named_and_the_rest_is(
    place: Place, repo: Path, tmp_path: Path, bound: None
) -> None:
    (tmp_path / "secret.md").write_text("outside")
    for name, data in {
        "latin.md": "caf\u00e9".encode("latin-1"),
        "utf16.md": "text".encode("utf-16"),
        "empty.md": b" \n",
        "nul.md": b"a\0b",
        "fine.md": b"fine",
        "Fine.md": b"other",
        "token.md": f"ok\n\nuse {SECRET}\n".encode(),
        "huge.md": b"# a\n" * (1 << 20),
        f"of {SECRET}.md": b"text",
        "many.md": b"# a\n\ntext\n" * 5000,
        "private.md": f"a <private>{SECRET}</private>".encode(),
    }.items():
        put(repo, f"memory-bank/{name}", data)
    put(repo, "memory-bank/closed.md", "x").chmod(0)
    os.mkfifo(repo / "memory-bank/pipe.md")
    (repo / "memory-bank/out.md").symlink_to(tmp_path / "secret.md")
    (repo / "memory-bank/gone.md").symlink_to("nowhere.md")
    (repo / "memory-bank/loop").symlink_to(".")
    done = bring(place, "memory-bank")
    found = {path.removeprefix("memory-bank/"): what for path, what in became(done).items()}
    assert found == {
        "latin.md": "it contains bytes that are not UTF-8",
        "utf16.md": "it is UTF-16, not UTF-8",
        "empty.md": "empty",
        "nul.md": "it contains control characters",
        "Fine.md": "memory-bank/fine",
        "fine.md": "memory-bank/Fine.md already has the label 'memory-bank/fine'",
        "token.md": "line 3 looks like a secret (github-token)",
        f"of {SECRET}.md": "its name contains a secret (github-token)",
        "huge.md": "it is too large (4,194,304 bytes)",
        "many.md": "the file would become 5,000 passages; the limit is 2,000",
        "private.md": "memory-bank/private",
        "closed.md": "it cannot be read (Permission denied)",
        "pipe.md": "the path is not a file",
        "gone.md": "it is a broken link",
        "loop": "it is a link to a folder",
        "out.md": f"it is a link to {tmp_path}/secret.md, outside of {repo}; "
        "to import the target, name its path",
    }
    assert len(refusals(done)) == len(found) - 3
    assert f"cannot import memory-bank/empty.md: {found['empty.md']}" not in refusals(done)
    assert blocks.get(place, "memory-bank/private").value == "a"


def test_a_folder_full_of_files_is_taken(place: Place, repo: Path) -> None:
    for number in range(60):
        put(repo, f"memory-bank/topic {number}.md", f"# Topic {number}\n\nNumber {number}.\n")
    put(repo, "memory-bank/big.md", LONG * 140)  # 1 MB
    done = bring(place, "memory-bank")
    assert len(done.entries) == 60
    assert blocks.get(place, "memory-bank/topic_7").value == "# Topic 7\n\nNumber 7."
    assert {item.outcome for item in bring(place, "memory-bank").items} == {"same"}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("packages/api/CLAUDE.md", "claude/packages/api"),
        ("memory-bank/a/b/c/d.md", "memory-bank/a-b-c/d"),
        ("memory-bank/\u8a2d\u8a08.md", "memory-bank/she-ji-19f4b2"),
        ("memory-bank/con.md", "memory-bank/con-1143da"),
        (f"memory-bank/{'a' * 90}.md", f"memory-bank/{'a' * 40}-6b2ec7"),
        ("docs/Run Book.md", "notes/docs/run_book"),
        ("human.md", "notes/human"),
        ("Straße nach Süden.md", "notes/strasse_nach_suden"),
        ("naïve-façade.md", "notes/naive-facade"),
    ],
)
def test_labels_are_valid_and_tell_files_apart(
    place: Place, repo: Path, name: str, label: str
) -> None:
    put(repo, name, "text")
    assert became(bring(place, name)) == {name: label}
    assert blocks.get(place, label).value == "text"


def test_a_file_elsewhere_can_be_named(place: Place, tmp_path: Path) -> None:
    path = put(tmp_path, "other/CLAUDE.md", "text")
    assert became(bring(place, path)) == {str(path): "claude"}
    assert blocks.get(place, "claude").meta["source"] == "claude: CLAUDE.md"


def test_what_is_no_memory_of_a_tool_is_said(place: Place, repo: Path) -> None:
    assert bring(place).files == ()
    (repo / "src").mkdir()
    with pytest.raises(NotFoundError, match="src contains no memory files"):
        bring(place, "src")
    with pytest.raises(NotFoundError, match=r"no file or folder nope\.md"):
        bring(place, "nope.md")
    with pytest.raises(StoreError, match="is a memfs store"):
        bring(place, place.home.root)
    inside = f"{place.home.root}/blocks/persona.md"
    assert list(became(bring(place, inside)).values()) == ["the file is already in the store"]


def test_the_limit_is_the_one_of_the_label(place: Place, repo: Path, block_file: object) -> None:
    config = Path(place.home.root, "config.yaml")
    config.write_text(config.read_text() + "blocks:\n  claude:\n    limit: 20000\n")
    put(repo, "CLAUDE.md", LONG)
    bring(place, "CLAUDE.md")
    assert blocks.get(place, "claude").limit == 20_000


def test_instruction_files_in_deeper_folders_are_offered(
    place: Place, repo: Path, home: Path
) -> None:
    for name in ("AGENTS.md", "api/AGENTS.md", "a/b/CLAUDE.md", "node_modules/x/AGENTS.md"):
        put(repo, name, f"About {name}.\n")
    (repo / "CLAUDE.md").symlink_to("AGENTS.md")
    git(repo, "add", "AGENTS.md", "CLAUDE.md", "api", "a")
    assert {each.path: each.left or each.label for each in bring(place).files} == {
        "AGENTS.md": "agents",
        "CLAUDE.md": "same text as AGENTS.md",
        "api/AGENTS.md": "agents/api",
        "a/b/CLAUDE.md": "claude/a/b",
    }
