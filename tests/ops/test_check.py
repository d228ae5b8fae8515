"""`memfs check`: what the memory says of the project, against the project and its history."""

import json
import shlex
from pathlib import Path

import pytest

from memfs.core.errors import MemfsError
from memfs.ops import check
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture
from tests.ops.clones import commit, git

PACKAGE = {
    "scripts": {"test:e2e": "playwright test", "lint": "eslint ."},
    "dependencies": {"react": "^18.2.0"},
}
MEMORY = """\
- Prices: `src/pricing.py`; `pricing.vat_for_line()` rounds each line.
- Old imports are read by `src/legacy.py`.
- Layout: `ui/` has the pages.
- Run `pnpm test:e2e` after a change of the checkout.
- Needs Node 18 and React 18.
- Install with `npm ci`.
- The key is in `SHOP_KEY`.
"""


def write(repo: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)


@pytest.fixture
def shop(repo: Path, place: Place, memfs: Run) -> Path:
    """A project whose memory is right, in its first commit."""
    body = "".join(f"    rate_{n} = {n}\n" for n in range(20))
    files = {"src/pricing.py": f"def vat_for_line(x):\n{body}    return x\n"}
    files |= {"src/legacy.py": "x = 1\n", "ui/a.html": "<p>one</p>\n" * 9}
    files |= {"ui/b.html": "<p>two</p>\n" * 9, "package.json": json.dumps(PACKAGE)}
    files |= {"package-lock.json": "{}", ".nvmrc": "18\n", ".env.example": "SHOP_KEY=\n"}
    write(repo, files)
    assert memfs("create", "shop", "--description", "The shop").code == 0
    assert memfs("edit", "shop", "--set", MEMORY).code == 0
    commit(repo, "first")
    return repo


def change_all(shop: Path) -> str:
    text = (shop / "src/pricing.py").read_text()
    git(shop, "rm", "-q", "src/pricing.py", "src/legacy.py", "package-lock.json")
    (shop / "web").mkdir()
    git(shop, "mv", "ui", "web/ui2")
    scripts = {"e2e": "playwright test", "lint": "eslint ."}
    package = {"scripts": scripts, "dependencies": {"react": "^19.0.0"}}
    files = {
        "src/tax.py": text.replace("vat_for_line", "vat_of"),
        "package.json": json.dumps(package),
    }
    write(shop, {**files, "pnpm-lock.yaml": "", ".nvmrc": "22\n", ".env.example": "STORE_KEY=\n"})
    return commit(shop, "tax: renamed")


def run(place: Place, *paths: str, base: str = "") -> list[tuple[str, str, str, str]]:
    report = check.run(place, paths, base)
    return [(each.state, each.kind, each.said, each.now) for each in report.findings]


def test_what_is_true_is_not_reported(shop: Path, place: Place) -> None:
    report = check.run(place)
    assert report.findings == ()
    assert report.anchors == 9


def test_what_changed_is_reported_with_what_holds_now(shop: Path, place: Place) -> None:
    changed = change_all(shop)
    found = {each.said: each for each in check.run(place).findings}
    assert [(each.state, said, each.now, each.line) for said, each in found.items()] == [
        ("moved", "src/pricing.py", "src/tax.py", 7),
        ("gone", "pricing.vat_for_line()", "", 7),
        ("gone", "src/legacy.py", "", 8),
        ("moved", "ui/", "web/ui2", 9),
        ("moved", "pnpm test:e2e", "e2e", 10),
        ("contradicted", "Node 18", "22", 11),
        ("contradicted", "React 18", "^19.0.0", 11),
        ("contradicted", "npm ci", "pnpm", 12),
        ("gone", "SHOP_KEY", "", 13),
    ]
    for said in ("src/pricing.py", "pricing.vat_for_line()", "src/legacy.py", "pnpm test:e2e"):
        assert found[said].commit == changed
    assert found["src/legacy.py"].subject == "tax: renamed"
    text = (shop / ".agent-memory/blocks/shop.md").read_text().splitlines()
    assert all(each.said in text[each.line - 1] for each in found.values())


def test_what_mends_it_mends_it(shop: Path, place: Place, memfs: Run) -> None:
    change_all(shop)
    mends = [each.mend for each in check.run(place).findings if each.mend]
    assert mends[0] == "memfs edit shop --replace src/pricing.py src/tax.py"
    for mend in mends:
        done = memfs(*shlex.split(mend)[1:])
        assert done.code == 0, done.err
    left = [said for _, _, said, _ in run(place)]
    assert left == ["pricing.vat_for_line()", "src/legacy.py", "npm ci", "SHOP_KEY"]


def test_a_pull_request_hears_of_what_it_caused(shop: Path, place: Place) -> None:
    first = change_all(shop)
    assert run(place, base=first) == []
    assert len(run(place, base=f"{first}~1")) == 9
    path = shop / ".agent-memory/blocks/shop.md"
    path.write_text(path.read_text() + "- and `src/legacy.py` again\n")
    commit(shop, "memory")
    assert run(place, base=first) == [("gone", "file", "src/legacy.py", "")]
    last = git(shop, "rev-parse", "HEAD").strip()
    git(shop, "mv", str(path), str(path.with_name("store.md")))
    package = json.loads((shop / "package.json").read_text())
    write(shop, {"package.json": json.dumps(package | {"private": True})})
    commit(shop, "the block has another name, the manifest another line")
    assert run(place, base=last) == []
    for wrong in ("no-such", "--output=x"):
        with pytest.raises(MemfsError, match="git has no commit"):
            check.run(place, base=wrong)


def test_what_cannot_be_verified_is_silent(shop: Path, place: Place) -> None:
    write(
        shop,
        {
            ".gitignore": "dist/\n",
            "pkg/lib/util.ts": "x",
            "NOTES.md": "`never/was.py` `dist/app.js` `lib/util.js` `lib/util` `pnpm vitest`\n"
            "`NOT_KNOWN_HERE` `pricing.never_there()` Ruby 2 `make all`\n",
        },
    )
    write(shop, {"dist/app.js": "built"})
    git(shop, "add", "-f", "dist/app.js")
    commit(shop, "more")
    git(shop, "rm", "-q", "--cached", "dist/app.js")
    (shop / "dist/app.js").unlink()
    commit(shop, "built files are ignored")
    assert run(place, str(shop / "NOTES.md")) == []


def test_a_name_that_several_folders_had_is_that_of_none(shop: Path, place: Place) -> None:
    write(shop, {"a/one.md": "1", "b/one.md": "2", "a/two.md": "3", "N.md": "`one.md` `two.md`\n"})
    commit(shop, "more")
    git(shop, "rm", "-q", "-r", "a", "b")
    commit(shop, "less")
    assert run(place, str(shop / "N.md")) == [("gone", "file", "two.md", "")]


def test_what_is_behind_a_link_or_not_checked_out_is_not_gone(shop: Path, place: Place) -> None:
    write(shop, {"N.md": "`old/a.py` `SHOP_KEY` `pnpm lint` `pricing.vat_for_line()` Node 18\n"})
    write(shop, {"old/a.py": "x = 1\n"})
    commit(shop, "more")
    git(shop, "rm", "-q", "old/a.py")
    (shop / "old").symlink_to("ui")
    commit(shop, "a link")
    git(shop, "sparse-checkout", "set", "--no-cone", "/N.md")
    assert not (shop / "package.json").exists()
    assert run(place, str(shop / "N.md")) == []


def test_a_file_that_links_to_another_is_checked(shop: Path, place: Place) -> None:
    change_all(shop)
    write(shop, {"AGENTS.md": "See `src/legacy.py`.\n"})
    (shop / "CLAUDE.md").symlink_to("AGENTS.md")
    (found,) = check.run(place, [str(shop / "CLAUDE.md")]).findings
    assert (found.path, found.said) == ("AGENTS.md", "src/legacy.py")


def test_files_that_are_named_are_checked_from_where_they_stand(shop: Path, place: Place) -> None:
    write(shop, {"pkg/AGENTS.md": "---\nx: 1\n---\n\nSee `lib/a.py`.\n", "pkg/lib/a.py": "x = 1\n"})
    commit(shop, "pkg")
    git(shop, "rm", "-q", "pkg/lib/a.py")
    commit(shop, "gone")
    (found,) = check.run(place, [str(shop / "pkg/AGENTS.md")]).findings
    assert (found.path, found.line, found.source) == ("pkg/AGENTS.md", 5, "pkg/lib/a.py")
    with pytest.raises(MemfsError, match="there is no file"):
        check.run(place, ["no.md"])


def test_a_path_of_a_rule_is_checked(shop: Path, place: Place, memfs: Run) -> None:
    path = shop / ".agent-memory/blocks/shop.md"
    paths = 'paths: ["src/pricing.py", ui/, "src/*.py", b.html]\nenforce: deny\n'
    path.write_text(path.read_text().replace("limit:", f"{paths}limit:").replace(MEMORY, ""))
    assert check.run(place).findings == ()
    change_all(shop)
    found = check.run(place).findings
    assert [(each.said, each.now, each.line, each.mend) for each in found] == [
        ("src/pricing.py", "src/tax.py", 3, ""),
        ("ui/", "web/ui2", 3, ""),
    ]
    assert "shop: src/pricing.py" in memfs("review", "list").out


def test_a_date_that_is_past_is_due(shop: Path, place: Place) -> None:
    path = shop / ".agent-memory/blocks/shop.md"
    text = path.read_text().replace("---\n", "---\nreview_after: 2020-01-31\n", 1)
    path.write_text(text.replace("limit:", "expires_at: 2999-01-01\nlimit:"))
    (found,) = check.run(place).findings
    assert (found.state, found.said, found.line) == ("due", "review_after: 2020-01-31", 2)


def test_where_git_is_not_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path / "plain")
        with pytest.raises(MemfsError, match="history"):
            check.run(Place(None, None))


@pytest.mark.usefixtures("shop")
def test_without_the_program_git_no_text_passes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(MemfsError, match="not on the PATH"):
        check.run(place)


def test_the_command_says_it_and_ends_with_1(shop: Path, memfs: Run) -> None:
    good = memfs("check")
    assert (good.code, good.out) == (0, "")
    change_all(shop)
    done = memfs("check", "--json")
    assert len(json.loads(done.out)["findings"]) == 9
    shown = memfs("check").out
    assert ".agent-memory/blocks/shop.md:7 moved file: src/pricing.py\n  now src/tax.py" in shown


def test_files_are_checked_where_there_is_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memfs: Run
) -> None:
    bare = tmp_path / "bare"
    write(bare, {"AGENTS.md": "See `src/a.py`.\n"})
    git(bare, "init", "-q")
    monkeypatch.chdir(bare)
    done = memfs("check", "AGENTS.md")
    assert (done.code, done.out) == (0, "")
    assert memfs("check").code == 1


def test_a_shallow_clone_is_told(
    shop: Path, tmp_path: Path, memfs: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_all(shop)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{shop}", "clone")
    monkeypatch.chdir(tmp_path / "clone")
    done = memfs("check", "--json")
    assert json.loads(done.out)["shallow"] is True
