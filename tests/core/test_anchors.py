import pytest

from memfs.core import manifests
from memfs.core.anchors import find_anchors


def named(text: str) -> list[str]:
    return [f"{a.kind} {a.of and a.of + ' '}{a.name}" for a in find_anchors(text)]


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("Prices are in `src/pricing.py`.", ["file src/pricing.py"]),
        (
            "See [how](./docs/how.md#top) and src/a/b.ts:12.",
            ["file docs/how.md", "file src/a/b.ts"],
        ),
        ("`src/pricing.py:10-20`, `lib/`", ["file src/pricing.py", "file lib"]),
        ("`pricing.vat_for_line()` rounds", ["function pricing vat_for_line"]),
        ("`Cart::total(items)`", ["function Cart total"]),
        ("Run `pnpm test:e2e`", ["script pnpm test:e2e"]),
        ("Run `npm run lint && make all`.", ["script npm lint", "script make all"]),
        ("`npm ci`, then `yarn add x`", ["tool npm", "tool yarn"]),
        ("`npm i -g x`", []),
        ("```bash\n$ cd x && just build # all\n```", ["script just build"]),
        ("```\nnode scripts/seed.js --all\n```", ["file scripts/seed.js"]),
        ("```ts\nimport x from './gone.ts'\n```", []),
        ("Needs Node 18 and Python >= 3.11.", ["version 18 Node", "version 3.11 Python"]),
        ("Set `DATABASE_URL`.", ["variable DATABASE_URL"]),
        # What only looks like a name of the project's.
        ("https://a.b/c.md, `~/x.py`, `/etc/x.conf`, `$HOME/x.sh`, `*.py`, `.py`", []),
        ("`@scope/name`, `a/b`, `and/or`, `v1.2`", []),
        ("`src/{a,b}.ts` and `<name>.md`", []),
        # What a sentence says of the past, of others, or as an example.
        ("`src/old.py` was removed in May.", []),
        ("- ~~`src/old.py`~~", []),
        ("`a/x.py` → `b/x.py`", []),
        ("Name files like this, e.g. `src/user_store.py`.", []),
        ("2026-05-01: fixed `src/x.py`", []),
        ("## Removed\n\n- `src/x.py`\n\n## Now\n\n- `src/y.py`", ["file src/y.py"]),
        ("It breaks before Node 18.", []),
        ("Loops for Go 1.24+. Peers: `react ^18 || ^19`", []),
        # What is there once the reader has written it, wherever the text names it.
        ("Append it to `notes/log.yaml`.\n\nRead `notes/log.yaml`, `a/b.py`.", ["file a/b.py"]),
        ("Scaffold: `spec/plan.md`; `src/a.py` saves.", ["file src/a.py"]),
        ("- [ ] Clear `docs/next.md` for later", []),
        ("```\nx/words.ts  →  type: words\n```", []),
        ("Do not use `npm install` here.", []),
    ],
)
def test_anchors_are_found_by_their_form(text: str, anchors: list[str]) -> None:
    assert named(text) == anchors


def test_an_anchor_has_its_line_and_words() -> None:
    (found,) = find_anchors("# Rules\n\n- never edit `src/pricing.py:12`\n")
    assert (found.line, found.text, found.name) == (3, "src/pricing.py:12", "src/pricing.py")


@pytest.mark.parametrize(
    ("said", "least", "wanted", "wrong"),
    [
        ("18", False, "22", True),
        ("18", False, "18.2.1", False),
        ("18", True, "22", False),  # "18 or newer"
        ("22", True, "18", False),  # of something else: a project goes on
        ("17", False, "<18", False),
        ("1", False, ">=" + "9" * 5000, True),
        ("18", False, ">=20", True),
        ("18", True, ">=20", True),
        ("3.12", False, ">=3.11", False),
        ("3.12", False, ">=3.9,<3.12", False),
        ("18.3", False, "^18.2.0", False),
        ("17", False, "^18.2.0", True),
        ("18", False, "18 || 20", False),
        ("18", False, "*", False),
    ],
)
def test_a_version_is_compared_as_far_as_it_goes(
    said: str, least: bool, wanted: str, wrong: bool
) -> None:
    assert manifests.contradicts(said, least, wanted) is wrong


@pytest.mark.parametrize(
    ("name", "text", "scripts", "versions"),
    [
        (
            "package.json",
            """{"scripts": {"a": "b"}, "engines": {"node": ">=22"}, "packageManager": "pnpm@9.1.0+x",
            "dependencies": {"next.js": "^15.1.0", "own": "workspace:*", "git": "github:a/b"}}""",
            {"a": "b"},
            {"node": ">=22", "pnpm": "9.1.0", "next": "^15.1.0"},
        ),
        (
            "pyproject.toml",
            '[project]\nrequires-python = ">=3.11"\ndependencies = ["click>=8", "attrs"]\n',
            {},
            {"python": ">=3.11", "click": ">=8"},
        ),
        ("Makefile", "A := b\nall lint: x\n\ttrue\n.PHONY: all\n", {"all": "", "lint": ""}, {}),
        ("justfile", "x := '1'\n@build target='a': dep\n  true\n", {"build": ""}, {}),
        (".nvmrc", "v22.1\n", {}, {"node": "22.1"}),
        (".tool-versions", "nodejs 20.1.0\n# x\nruby system\n", {}, {"node": "20.1.0"}),
        ("go.mod", "module x\n\ngo 1.22\n", {}, {"go": ">=1.22"}),
        ("requirements.txt", "Django==5.1 # x\n-r b.txt\n", {}, {"django": "==5.1"}),
        ("package.json", "{no", {}, {}),
        ("package.json", '[{"scripts": 1}]', {}, {}),
        ("package.json", "[" * 99999, {}, {}),
        ("package.json", '{"engines": {"node": "2' + " " * 999 + '"}}', {}, {}),
        ("Makefile", "a" + " " * 99999 + "b\nc : d\n", {"c": ""}, {}),
        ("pyproject.toml", "[project", {}, {}),
        ("pyproject.toml", "project = 1", {}, {}),
    ],
)
def test_manifests_are_read(
    name: str, text: str, scripts: dict[str, str], versions: dict[str, str]
) -> None:
    found = manifests.read_manifest(name, text)
    assert found is not None
    assert (dict(found.scripts), dict(found.versions)) == (scripts, versions)


def test_other_files_are_no_manifests() -> None:
    assert manifests.read_manifest("notes.json", "{}") is None
