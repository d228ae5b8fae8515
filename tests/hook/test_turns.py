"""What is kept of a turn when it ends: its transcript is read, or word is left to read it."""

import json
import shutil
from pathlib import Path

from memfs.ops import search
from memfs.recall.open_store import OpenStore
from memfs.search.lexical import TextIndex
from memfs.search.request import Filter
from memfs.store import lock, spool
from memfs.store.blocks import Place
from tests.hook.calls import answer, call, log, payload
from tests.hosts.transcript_lines import assistant, user


def transcript(repo: Path, folder: Path) -> Path:
    path = folder / "11111111-2222-3333-4444-555555555555.jsonl"
    common = {"sessionId": path.stem, "cwd": str(repo)}
    asked = user("indent the gopher with tabs", "u1", **common)
    path.write_bytes(asked + assistant("Done, the gopher has tabs.", "a1", **common))
    return path


def stop(repo: Path, path: Path, **more: object) -> bytes:
    return payload(repo, "Stop", session_id=path.stem, transcript_path=str(path), **more)


def found(place: Place, query: str) -> list[str]:
    page = search.run(OpenStore(place), query, mode="text", only=Filter(), limit=5, page=1)
    return [hit.text for hit in page.hits]


def test_a_turns_end_hands_over_to_the_next_session(
    repo: Path, place: Place, tmp_path: Path
) -> None:
    path = transcript(repo, tmp_path)
    token = "ghp_" + "x9B2kQ7vRw" * 3 + "Zt4LpM"
    asked = user("now the crab: log in with " + token, cwd=str(repo), sessionId=path.stem)
    path.write_bytes(path.read_bytes() + asked)
    call(stop(repo, path))
    out, _ = call(payload(repo, "SessionStart", session_id="next", source="startup"))
    told = json.loads(out)["hookSpecificOutput"]["additionalContext"]
    assert "> asked: now the crab: log in with [redacted:" in told
    assert token not in told
    said = path.with_name("next.jsonl")  # a session that says nothing was told in vain
    said.write_bytes(user("thanks", cwd=str(repo), sessionId="next"))
    call(stop(repo, said))
    out, _ = call(payload(repo, "SessionStart", session_id="other", source="startup"))
    assert "now the crab" not in out.decode()


def test_a_turns_end_makes_it_searchable(place: Place, repo: Path, tmp_path: Path) -> None:
    path = transcript(repo, tmp_path)
    assert answer(stop(repo, path)) == b""
    out = answer(payload(repo, "UserPromptSubmit", prompt="x"))  # the brief, for this session
    out = answer(payload(repo, "UserPromptSubmit", prompt="should the gopher have tabs?"))
    assert (
        "indent the gopher with tabs" in json.loads(out)["hookSpecificOutput"]["additionalContext"]
    )
    assert len(found(place, "gopher tabs")) == 2
    assert log(repo) == []


def test_an_answer_that_is_written_after_the_turns_end_is_read_by_the_next_search(
    place: Place, repo: Path, tmp_path: Path
) -> None:
    path = transcript(repo, tmp_path)
    asked, answered = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(asked)
    answer(stop(repo, path))
    path.write_bytes(asked + answered)
    assert found(place, "Done") == ["Done, the gopher has tabs."]
    assert spool.list_notes(place.home) == []
    answer(stop(repo, path))
    assert spool.list_notes(place.home) == [], "the answer is there"


def test_what_was_said_before_the_answer_is_not_taken_for_it(
    place: Place, repo: Path, tmp_path: Path
) -> None:
    path = transcript(repo, tmp_path)
    before = path.read_bytes()
    answer(stop(repo, path, last_assistant_message="The badger, too."))
    said = {"sessionId": path.stem, "cwd": str(repo)}
    path.write_bytes(before + assistant("The badger, too.", "a2", **said))
    assert found(place, "badger") == ["The badger, too."]
    answer(stop(repo, path, last_assistant_message="\nThe badger, too. \n"))
    assert spool.list_notes(place.home) == []


def test_a_turn_of_which_nothing_is_written_yet_is_read_by_the_next_search(
    place: Place, repo: Path, tmp_path: Path
) -> None:
    path = transcript(repo, tmp_path)
    whole = path.read_bytes()
    path.unlink()
    assert answer(stop(repo, path)) == b""
    path.write_bytes(whole)
    assert len(found(place, "gopher tabs")) == 2
    assert log(repo) == []


def test_a_turns_end_that_found_the_index_busy_is_made_up_for_by_the_next(
    place: Place, repo: Path, tmp_path: Path
) -> None:
    def said(session: str, text: str) -> bytes:
        path = tmp_path / f"{session}.jsonl"
        said = user(text, session, sessionId=session)
        path.write_bytes(said + assistant("Well.", f"{session}-a", sessionId=session))
        return stop(repo, path)

    def messages() -> int:
        index = TextIndex.open(place.home.index)
        assert index
        return len(index.search(index.term_query("kind", "message"), 10))

    answer(said("zero", "lemon curd"))
    with lock.hold_lock(place.home, name=lock.INDEX):
        answer(said("one", "marmalade sandwiches"))
    assert messages() == 2
    answer(said("two", "ginger biscuits"))
    assert messages() == 6
    assert spool.list_notes(place.home) == []
    shutil.rmtree(place.home.index)
    answer(said("three", "elderflower cordial"))
    assert messages() == 8, "an index that was lost is made whole"


def test_secrets_are_not_recorded(place: Place, repo: Path, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    path = transcript(repo, tmp_path)
    path.write_text(path.read_text().replace("with tabs", f"with {token} <private>psst</private>"))
    answer(stop(repo, path))
    [kept] = [text for text in found(place, "indent gopher") if text.startswith("indent")]
    assert kept.startswith("indent the gopher with [redacted:github")
    for file in Path(place.home.local).rglob("*"):
        data = file.read_bytes() if file.is_file() else b""
        assert token.encode() not in data, file
        assert b"psst" not in data, file
    assert log(repo) == []


def test_a_sessions_end_only_leaves_word(place: Place, repo: Path, tmp_path: Path) -> None:
    path = transcript(repo, tmp_path)
    assert answer(payload(repo, "SessionEnd", transcript_path=str(path), reason="other")) == b""
    assert place.project
    assert len(list(Path(place.project.local, "inbox").iterdir())) == 1
    assert not Path(place.project.local, "recall").exists()
    assert len(found(place, "gopher tabs")) == 2
    assert not list(Path(place.project.local, "inbox").iterdir())


def test_a_transcript_that_is_gone_is_no_failure(repo: Path, place: Place) -> None:
    assert answer(payload(repo, "Stop", transcript_path="/nowhere/x.jsonl")) == b""
    assert answer(payload(repo, "SessionEnd", transcript_path="/nowhere/x.jsonl")) == b""
    assert found(place, "anything at all") == []
    assert log(repo) == []


def test_a_busy_store_is_left_word(place: Place, repo: Path, tmp_path: Path) -> None:
    path = transcript(repo, tmp_path)
    with lock.hold_lock(place.home, name=lock.INGEST):
        assert answer(stop(repo, path)) == b""
    assert [note[2] for note in spool.list_notes(place.home)] == [str(path)]
    assert len(found(place, "gopher tabs")) == 2
    assert log(repo) == []
