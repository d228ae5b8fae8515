"""A source's folders are walked by its rules, and what is left out is counted by reason."""

import os
import time
from pathlib import Path

import pytest

from memfs.ingest import source_files
from memfs.ingest.source_files import PathRules, SourceWalk
from memfs.store.data_sources import DataSource


def write(top: Path, *names: str, text: str = "words\n") -> None:
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def make(
    *paths: Path, globs: tuple[str, ...] = (), excludes: tuple[str, ...] = (), top: str = ""
) -> DataSource:
    found = tuple(map(str, paths))
    return DataSource("docs", "user", found, globs, excludes, 1500, 150, "", top or found[0], "")


def walk(source: DataSource) -> SourceWalk:
    return SourceWalk(source, {})


def names(source: DataSource) -> list[str]:
    return [each.path[len(source.top) + 1 :] for each in walk(source).files]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    return docs


def test_files_are_listed_and_hidden_ones_counted(docs: Path) -> None:
    write(docs, "b.md", "a/x.md", "a/y.txt", ".hidden", ".github/w.md", ".git/config")
    found = walk(make(docs))
    assert [each.path for each in found.files] == [f"{docs}/{n}" for n in ("b.md", "a/x.md", "a/y.txt")]  # fmt: skip
    assert found.left == {source_files.HIDDEN: 2}


def test_files_of_rules_hold_in_their_folders_outside_of_git_too(docs: Path) -> None:
    write(docs, "keep.md", "x.tmp", "a/x.tmp", "a/keep.tmp", "a/b/x.md", "a/b/y.md", "build/z.md")
    write(docs, ".gitignore", text="*.tmp\n/build/\n")
    write(docs, "a/.gitignore", text="!keep.tmp\n")
    write(docs, "a/b/.memfsignore", text="x.md\n")
    write(docs, "a/b/.gitignore", text="!x.md\ny.md\n")
    found = walk(make(docs))
    assert names(make(docs)) == ["keep.md", "a/keep.tmp"]
    assert found.left == {source_files.IGNORED: 5}


def test_rules_of_the_repository_above_hold_but_not_for_the_source_itself(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "docs/b.log", "docs/built/c.md", "out/d.md", ".git/HEAD")
    write(tmp_path, ".gitignore", text="*.log\ndocs/built\nout/\n")
    assert names(make(tmp_path / "docs")) == ["a.md"]
    assert names(make(tmp_path / "out")) == ["d.md"]


def test_patterns_of_the_source_are_as_in_gitignore(docs: Path) -> None:
    write(docs, "a.md", "a.rst", "drafts/b.md", "x/drafts/c.md", "x/y/d.md")
    assert names(make(docs, globs=("*.md",), excludes=("drafts/",))) == ["a.md", "x/y/d.md"]
    assert names(make(docs, globs=("/x/**",))) == ["x/drafts/c.md", "x/y/d.md"]
    found = walk(make(docs, globs=("*.md", "!a.md")))
    assert found.left == {source_files.UNMATCHED: 2}


def test_links_are_not_followed(docs: Path, tmp_path: Path) -> None:
    write(docs, "a.md")
    write(tmp_path, "other/b.md")
    (docs / "out").symlink_to(tmp_path / "other")
    (docs / "out.md").symlink_to(tmp_path / "other/b.md")
    (docs / "in.md").symlink_to("a.md")
    (docs / "loop").symlink_to(".")
    found = walk(make(docs))
    assert len(found.files) == 1
    assert found.left == {source_files.LINK: 2}


def test_what_is_odd_large_or_deep_is_counted(docs: Path) -> None:
    os.mkfifo(docs / "fifo")
    (docs / "large.md").write_bytes(b"x" * (source_files.LARGEST + 1))
    (docs / "large.PDF").write_bytes(b"x" * (source_files.LARGEST + 1))
    write(docs, "/".join(["d"] * 40) + "/a.md")
    found = walk(make(docs))
    assert [os.path.basename(each.path) for each in found.files] == ["large.PDF"]
    assert found.left == {source_files.ODD: 1, source_files.LARGE: 1, source_files.DEEP: 1}


def test_names_of_all_kinds_are_taken(docs: Path) -> None:
    odd = ["line\nbreak.md", "-rf.md", "a b.md", "ünï.md"]
    write(docs, *odd)
    Path(os.fsdecode(bytes(docs) + b"/\xff.md")).write_text("x")
    assert sorted(names(make(docs))) == sorted([*odd, "\udcff.md"])


@pytest.mark.usefixtures("bound")
def test_a_folder_that_cannot_be_read_is_named(docs: Path) -> None:
    write(docs, "a.md", "shut/b.md")
    (docs / "shut").chmod(0)
    found = walk(make(docs))
    (docs / "shut").chmod(0o700)
    assert found.unreadable == {f"{docs}/shut": "cannot be read (Permission denied)"}
    assert len(found.files) == 1
    assert walk(make(docs)).stamp != found.stamp


def test_paths_may_be_files_and_be_missing(docs: Path) -> None:
    write(docs, ".env.example", "b.md")
    source = make(docs / ".env.example", docs / "gone", top=str(docs))
    assert names(source) == [".env.example"]
    assert walk(source).missing == [f"{docs}/gone"]


def test_the_stamp_changes_with_the_files_alone(docs: Path) -> None:
    write(docs, "a.md", "b.md")
    first = walk(make(docs)).stamp
    assert walk(make(docs)).stamp == first
    write(docs, "a.md", text="others\n")
    second = walk(make(docs)).stamp
    (docs / "b.md").unlink()
    assert len({first, second, walk(make(docs)).stamp}) == 3


def test_what_is_known_of_a_folder_is_used_until_it_or_a_rule_changes(docs: Path) -> None:
    write(docs, "a.md", "x.tmp", "sub/b.md", "sub/c.tmp")
    old = time.time() - 60
    for folder in (docs / "sub", docs):
        os.utime(folder, (old, old))
    first = walk(make(docs))
    again = SourceWalk(make(docs), first.listings)
    assert all(again.listings[each] is first.listings[each] for each in first.listings)
    assert again.stamp == first.stamp
    write(docs, ".gitignore", text="*.tmp\n")
    os.utime(docs, (old, old))
    ruled = SourceWalk(make(docs), first.listings)
    assert [os.path.basename(each.path) for each in ruled.files] == ["a.md", "b.md"]
    (docs / ".gitignore").write_text("*.md\n")  # in place: no folder is modified
    os.utime(docs, (old, old))
    turned = SourceWalk(make(docs), ruled.listings)
    assert [os.path.basename(each.path) for each in turned.files] == ["x.tmp", "c.tmp"]


def test_a_folder_that_was_modified_just_now_is_listed_again(docs: Path) -> None:
    write(docs, "a.md")
    first = walk(make(docs))
    assert first.listings[str(docs)].modified == 0


@pytest.mark.parametrize("line", ["!", "a\\", "[z-a]", "[[x]", "[a--b]", "*a*a*a*a*a*b"])
def test_patterns_that_cannot_be_read_or_take_long_are_not_used(line: str) -> None:
    rules = PathRules([line, "*.md"])
    assert rules.key == PathRules(["*.md"]).key


def test_a_pattern_that_no_name_can_have_takes_nothing() -> None:
    rules = PathRules(["\0", "*.md"])
    assert not rules.matches("a" * 255)
    assert rules.matches("a.md")
