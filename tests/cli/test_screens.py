"""Whole screens, as a person reads them."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.store.blocks import Place
from memfs.tools import provider_formats, registry
from tests.cli.conftest import Run

pytestmark = pytest.mark.usefixtures("place")
Editor = Callable[[str], None]


def test_the_first_minutes(memfs: Run) -> None:
    assert memfs("edit", "human", "--append", "Name: Alice") == (
        0,
        "",
        "✓ user:human version 2: append, 11 of 5,000 characters\n",
    )
    assert memfs("edit", "human", "--replace", "Alice", "Bob", "-m", "they said so").code == 0
    assert memfs("show", "human") == (0, "Name: Bob\n", "")
    assert memfs("undo", "human") == (
        0,
        "",
        "✓ user:human version 4: undo, 11 of 5,000 characters (undid replace, version 3)\n",
    )
    assert memfs("show", "human").out == "Name: Alice\n"
    assert (
        memfs("log", "human").out
        == """\
VERSION  WHEN      WHO     BLOCK       WHAT     CHARS  WHY
      4  just now  user    user:human  undo        +2  undo of version 3
      3  just now  user    user:human  replace     -2  they said so
      2  just now  user    user:human  append     +11
      1  just now  system  user:human  create       0  memfs init
"""
    )
    assert (
        memfs("diff", "human", "2", "3").out
        == """\
--- human@2
+++ human@3
@@ -4,4 +4,4 @@
 read_only: false
 pinned: true
 ---
-Name: Alice
+Name: Bob
"""
    )
    assert memfs("show", "human@3").out == "Name: Bob\n"
    assert memfs("restore", "human", "3").err == (
        "✓ user:human version 5: restore, 9 of 5,000 characters\n"
    )


def test_versions_before_the_current_one_and_under_an_earlier_label(memfs: Run) -> None:
    memfs("create", "notes", "one", "--description", "Notes")
    memfs("edit", "notes", "--append", "two")
    memfs("rename", "notes", "remarks", "--reason", "clearer")
    assert (
        memfs("log", "remarks").out
        == """\
VERSION  WHEN      WHO   BLOCK            WHAT    CHARS  WHY
      3  just now  user  project:remarks  rename      0  from notes: clearer
      2  just now  user  project:notes    append     +4
      1  just now  user  project:notes    create     +3
"""
    )
    assert memfs("show", "remarks@1").out == memfs("show", "remarks@-2").out == "one\n"
    assert memfs("diff", "remarks@-2").out.splitlines()[:2] == ["--- remarks@1", "+++ remarks@3"]
    between = memfs("diff", "remarks@-2", "remarks@2").out.splitlines()
    assert (between[:2], between[-1]) == (["--- remarks@1", "+++ remarks@2"], "+two")
    assert memfs("show", "remarks@-3") == (
        1,
        "",
        "error: 'remarks' has no version -3: the oldest is -2\nhint: list the versions: memfs log remarks\n",
    )
    assert memfs("restore", "remarks@-2").err == (
        "✓ project:remarks version 4: restore, 3 of 5,000 characters\n"
    )
    for words in (("restore", "remarks"), ("restore", "remarks@1", "2"), ("show", "remarks@-x")):
        assert memfs(*words).code == 2
    assert memfs("diff", "remarks@1", "2", "3").code == 2


def test_blocks(memfs: Run) -> None:
    memfs("create", "api", "x" * 90, "--description", "The API", "--limit", "100", "--no-pin")
    assert (
        memfs("show", "--list").out
        == """\
TIER     LABEL         USED                     CHARS  VERSION
project  api           ███████████░  90%     90 / 100        1  unpinned
project  persona       ░░░░░░░░░░░░   3%  172 / 5,000        1
project  system_rules  ░░░░░░░░░░░░   0%    0 / 5,000        1
user     human         ░░░░░░░░░░░░   0%    0 / 5,000        1
"""
    )
    listed = json.loads(memfs("show", "--list", "--json").out)
    assert [(block["label"], block["chars"]) for block in listed][:2] == [
        ("api", 90),
        ("persona", 172),
    ]


def test_status_and_doctor(memfs: Run, place: Place, repo: Path) -> None:
    shown = memfs("status").out
    assert shown.splitlines()[6:] == [
        "service        not running; hooks and searches work without the service",
        "assistants     no assistant is wired: run memfs install",
        "",
        "TIER     LABEL         USED              VERSION  CONTENT    FRESHNESS  STATE",
        "project  persona       ░░░░░░░░░░░░  3%        1  populated  active     dirty",
        "project  system_rules  ░░░░░░░░░░░░  0%        1  empty      active     dirty",
        "user     human         ░░░░░░░░░░░░  0%        1  empty      active     clean",
    ]
    assert json.loads(memfs("status", "--json").out)["messages"] == 0
    assert memfs("doctor").code == 0
    assert place.project
    Path(place.project.root, "blocks/bad.md").write_text(
        "---\na: [1\n---\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
    )
    Path(place.project.root, "config.yaml").write_text("memfs: 1\nhoks: 1\n")
    found = memfs("doctor")
    assert found.code == 1
    assert "blocks/bad.md:4: merge conflict markers" in found.out
    assert "blocks/bad.md:3: front matter: while parsing a flow sequence" in found.out
    assert "did you mean 'hooks'?" in found.out
    memfs("install", "claude")
    settings = repo / ".claude/settings.local.json"
    settings.write_text(settings.read_text().replace("memfs_hook.py", "gone/memfs_hook.py"))
    assert "which is missing" in memfs("doctor").out


def test_archive_and_search(memfs: Run) -> None:
    kept = json.loads(
        memfs("archive", "add", "We chose httpx over requests.", "-t", "HTTP", "--json").out
    )
    assert not kept["duplicate"]
    again = json.loads(memfs("archive", "add", "We chose  httpx over requests.", "--json").out)
    assert again == {**kept, "duplicate": True}
    memfs("edit", "system_rules", "--append", "Timeouts are five seconds.")
    assert memfs("search", "why httpx", "--in", "archive").out.splitlines() == [
        f"  1  archive  2026-05-03  {kept['id']}  #http",
        "     We chose httpx over requests.",
        "     words: httpx; meaning 0.73",
    ]
    hits = json.loads(memfs("search", "timeouts", "--in", "blocks", "--json").out)
    assert hits["hits"][0]["label"] == "system_rules"
    assert {hit["kind"] for hit in hits["hits"]} == {"block"}
    assert json.loads(memfs("search", "httpx", "--tag", "other", "--json").out)["hits"] == []
    assert memfs("search", "zebra", "--mode", "text") == (0, "", "no hits\n")


def test_ingest_search_and_paging(memfs: Run) -> None:
    demo = Path(__file__).parent.parent.parent / "templates/demo/session.jsonl"
    assert memfs("ingest", str(demo)).err == "✓ 22 new messages in 1 session, from 1 file\n"
    assert memfs("ingest", str(demo)).err == "✓ 0 new messages in 0 sessions, from 1 file\n"
    first = json.loads(memfs("search", "backoff", "--mode", "text", "-n", "2", "--json").out)
    second = json.loads(
        memfs("search", "backoff", "--mode", "text", "-n", "2", "-p", "2", "--json").out
    )
    assert first["total"] == second["total"] > 2
    assert second["first"] == 3
    assert not {hit["id"] for hit in first["hits"]} & {hit["id"] for hit in second["hits"]}
    asked = json.loads(memfs("search", "backoff", "--role", "user", "--json").out)["hits"]
    assert {hit["role"] for hit in asked} == {"user"}
    assert (
        json.loads(memfs("search", "backoff", "--until", "2020-01-01", "--json").out)["total"] == 0
    )
    assert memfs("ingest", "/nowhere").code == 1


def test_sessions_are_found_whole(memfs: Run) -> None:
    memfs("ingest", str(Path(__file__).parent.parent.parent / "templates/demo/session.jsonl"))
    shown = memfs("search", "backoff", "--mode", "text", "--sessions").out.splitlines()
    assert re.fullmatch(r"  1  claude  2026-\d\d-\d\d  session \S+  \d+ matching turns", shown[0])
    assert [line[:5] for line in shown[1:]] == ["     "] * (len(shown) - 1)
    assert any(line.startswith("     user: ") for line in shown)
    assert shown[-1] == "     words: backoff"
    told = json.loads(memfs("search", "backoff", "--sessions", "--json").out)
    assert (told["total"], told["first"], len(told["sessions"])) == (1, 1, 1)
    assert len(told["sessions"][0]["hits"]) == 3
    assert memfs("search", "zebra", "--mode", "text", "--sessions").err == "no hits\n"
    assert (
        "there is no page 9: the search found 1 session on 1 page"
        in memfs("search", "backoff", "--sessions", "-p9").err
    )


def test_texts_from_stdin_and_patches(memfs: Run, tmp_path: Path) -> None:
    memfs("edit", "human", "--set", "-", stdin="from stdin\n")
    assert memfs("show", "human").out == "from stdin\n"
    patch = tmp_path / "patch.json"
    patch.write_text(
        json.dumps(
            [
                {"op": "append", "label": "human", "text": "a"},
                {"op": "remove", "label": "human", "text": "nowhere"},
            ]
        )
    )
    assert memfs("edit", "--patch", str(patch)).code == 1
    assert memfs("show", "human").out == "from stdin\n"


def test_without_an_operation_the_editor_opens(memfs: Run, editor: Editor) -> None:
    editor('echo "from the editor" > "$1"')
    assert memfs("edit", "human").code == 0
    assert memfs("show", "human").out == "from the editor\n"


def test_what_was_typed_is_kept_if_it_is_refused(memfs: Run, editor: Editor) -> None:
    editor('head -c 6000 /dev/zero | tr "\\0" x > "$1"')
    refused = memfs("edit", "human")
    assert refused.code == 1
    kept = Path(refused.err.strip().rpartition("recover your text from ")[2])
    assert kept.read_text() == "x" * 6000
    kept.unlink()


def test_an_edit_made_while_the_editor_was_open_is_not_overwritten(
    memfs: Run, editor: Editor
) -> None:
    script = Path(sys.executable).parent / "memfs"
    editor(f'"{script}" edit human --append "somebody else"; echo mine > "$1"')
    refused = memfs("edit", "human")
    assert refused.code == 1
    assert "it is at version 2, not 1" in refused.err
    assert memfs("show", "human").out == "somebody else\n"
    Path(refused.err.strip().rpartition("recover your text from ")[2]).unlink()


def test_saving_without_a_change_changes_nothing(memfs: Run, place: Place, editor: Editor) -> None:
    assert place.project
    path = Path(place.project.root, "blocks/odd.md")
    path.write_bytes(b"a\r\nb\nc \xff\n\n\n")
    editor(":")
    assert memfs("edit", "odd").err == "✓ 'odd' is unchanged\n"
    assert path.read_bytes() == b"a\r\nb\nc \xff\n\n\n"


def test_one_operation_at_a_time(memfs: Run) -> None:
    assert memfs("edit", "human", "--append", "a", "--set", "b").code == 2
    assert memfs("edit", "human", "--patch", "-").code == 2
    assert memfs("edit", "human", "--append", "a", "--limit", "100").code == 0


def test_escape_sequences_do_not_reach_a_screen(memfs: Run, place: Place) -> None:
    assert place.project
    folder = Path(place.project.root, "blocks")
    (folder / "a\x1b]0;PWNED\x07b.md").write_text("x\n")
    (folder / "esc.md").write_text("one\n")
    memfs("edit", "esc", "--append", "two")
    (folder / "esc.md").write_text("\x1b]0;PWNED\x07\n")
    for command in (["blocks"], ["status"], ["log"], ["diff", "esc"], ["doctor"]):
        shown = memfs(*command)
        assert "\x1b]" not in shown.out + shown.err, command


def test_doctor_names_what_is_wrong(memfs: Run, place: Place) -> None:
    assert place.project
    root = Path(place.project.root)
    (root / "config.yaml").write_text("memfs: 7\nhooks:\n  recall: 99x\nmax_blocks: -1\n")
    (root / "blocks/odd.md").write_text("---\nlimit: -1\npinned: maybe\n---\nx\n")
    (root / "blocks/a/b/c/d").mkdir(parents=True)
    (root / "blocks/a/b/c/d/deep.md").write_text("x\n")
    (root / "blocks/NOTES.MD").write_text("x\n")
    found = memfs("doctor").out
    for text in (
        "the line 'memfs: 1' is missing or wrong",
        "hooks.recall is '99x', expected off, auto or a number",
        "max_blocks is -1, expected 1 or more",
        "project:odd: limit is -1, which is ignored",
        "project:odd: pinned is 'maybe'",
        "deep.md is not a block",
        "NOTES.MD is not a block",
    ):
        assert text in found


def test_the_brief(memfs: Run) -> None:
    out = memfs("show").out
    assert out.startswith("# Core memory (always available)\n")
    assert "[WORKING]" not in out


def test_json_of_a_block(memfs: Run) -> None:
    found = json.loads(memfs("show", "persona", "--json").out)
    assert list(found) == [
        *"label tier version description chars limit tokens max_tokens updated_at".split(),
        *"read_only pinned paths commands enforce tags review_after expires_at value path".split(),
        *"problem".split(),
    ]


def test_raw_gives_the_very_bytes(memfs: Run, place: Place) -> None:
    assert place.project
    path = Path(place.project.root, "blocks/persona.md")
    assert memfs("show", "persona", "--raw").out == path.read_text()


def test_init_without_a_terminal_asks_nothing(memfs: Run, home: Path) -> None:
    (home / ".claude").mkdir()
    assert memfs("init").err.splitlines()[-1] == (
        "Claude Code is installed; to wire it, run: memfs install claude"
    )


def test_formats_have_every_tool_that_can_be_called_the_list_those_of_a_session(
    memfs: Run, place: Place
) -> None:
    assert place.project
    for form in provider_formats.FORMATS:
        told = memfs("tools", "--format", form).out
        assert all(f'"{name}"' in told for name in registry.built_in())
    listed = memfs("tools").out
    assert "memory_undo(" not in listed
    assert "memory_read(" in listed
