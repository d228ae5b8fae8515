"""Globs of files and commands, and the commands of a shell line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.rule_scope import RuleScope, find_problem, matches_command, matches_path
from memfs.core.shell_commands import list_commands


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("src/**/*.ts", "src/a/b/c.ts src/c.ts", "src.ts a/src/c.ts src/a.tsx"),
        ("src/*.ts", "src/a.ts", "src/a/b.ts"),
        ("*.ts", "a.ts a/b.ts", "a.tsx"),
        ("src/", "src/a src/a/b", "srcs/a a/src/b"),
        ("/x.py", "x.py a/x.py", "xx.py"),
        ("./a/?.py", "a/b.py", "a/bb.py a/b/c.py"),
        ("a/**/b", "a/b a/x/b a/x/y/b", "a/c x/a/b"),
        ("**", "a a/b", ""),
        ("app/[id]/page.{ts,tsx}", "app/[id]/page.tsx", "app/i/page.ts"),
        ("{src,lib}/{a,b}.py", "src/a.py lib/b.py", "src/c.py"),
    ],
)
def test_globs_of_files(glob: str, yes: str, no: str) -> None:
    assert [path for path in yes.split() if not matches_path(glob, path)] == []
    assert [path for path in no.split() if matches_path(glob, path)] == []


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("git push", "git push|git push origin main|/usr/bin/git push", "git pushx|git pull"),
        ("git push *--force*", "git push origin --force|git push --force-with-lease", "git push"),
        ("npm {publish,deprecate}", "npm publish|npm deprecate x", "npm run publish"),
        ("./deploy.sh", "./deploy.sh prod", "deploy.sh prod"),
        ("rm  -rf *", "rm -rf /|rm -rf a b", "rm -r a"),
    ],
)
def test_globs_of_commands(glob: str, yes: str, no: str) -> None:
    assert [each for each in yes.split("|") if not matches_command(glob, each)] == []
    assert [each for each in no.split("|") if matches_command(glob, each)] == []


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("cd x && git push -f; ls | wc -l", ["cd x", "git push -f", "ls", "wc -l"]),
        ("FOO=1 sudo git push 2>&1 & ls", ["git push 2>&1", "ls"]),
        ("echo 'git push; rm'", ["echo git push; rm"]),
        ('git p"us"h', ["git push"]),
        ("git \\\n push", ["git push"]),
        ("bash -lc 'npm publish && git push'", ["npm publish", "git push"]),
        ("eval 'git push'", ["git push"]),
        ('echo "$(git push)" `npm publish`', ["git push", "npm publish"]),
        ("if true; then git push; fi # rm x\nls", ["true", "git push", "fi", "ls"]),
        ("(cd a; git push)", ["cd a", "git push"]),
        ("cat <<'EOF'\ngit push\nEOF\nls", ["cat <<EOF", "ls"]),
        ("git commit -m \"$(cat <<'EOF'\nit's a git push\ngit push\nEOF\n)\"", ["cat <<EOF"]),
        ('echo "a << b"\ngit push', ["echo a << b", "git push"]),
        ("echo $((1+2))", []),
        ("cat >a <<'EOF'\n" + "git push\n" * 9000 + "EOF\nls", ["cat >a <<EOF", "ls"]),
        ("cat <<A>a <<-'B C'\ngit push\nA\ngit push\n\tB C\r\nls", ["ls"]),
        ("git push>log; ls&>a 2>&1", ["git push >log", "ls &>a 2>&1"]),
        ("timeout -k 5 1m git push; env -i A=b npm ci", ["git push", "npm ci"]),
    ],
)
def test_commands_of_a_line(line: str, commands: list[str]) -> None:
    found = list_commands(line)
    assert [each for each in commands if each not in found] == []
    pushes = [any(matches_command("git push", x) for x in listed) for listed in (found, commands)]
    assert pushes[0] == pushes[1]


@given(st.text(alphabet="ab '\"`$()\\\n;|&<>#{}*-=", max_size=200))
def test_any_line_is_split(line: str) -> None:
    for each in list_commands(line):
        matches_command("a*{b,c} ?", each)


@pytest.mark.parametrize("piece", ['"$(', "$(", "<<a\n", "'", "(", "\\", "`", "a;", "{a,"])
def test_what_is_matched_is_bounded_whatever_the_line(piece: str) -> None:
    commands = list_commands(piece * (100_000 // len(piece)))
    assert len(commands) <= 200
    assert max(map(len, commands), default=0) <= 2000


def test_what_cannot_be_used_is_named_and_matches_nothing() -> None:
    assert "braces" in find_problem("src/{a")
    assert "braces" in find_problem("{a,{b}}")
    assert "more than" in find_problem("{a,b}" * 9)
    assert "characters" in find_problem("x" * 1000)
    assert find_problem("a\tb") and find_problem(5) and find_problem(" ")  # noqa: PT018 - one thing
    scope = RuleScope({"paths": ["src/{a", "b"], "commands": 5, "enforce": "never"})
    assert (scope.paths, scope.commands, scope.enforce) == (["b"], [], "")
    assert len(scope.problems) == 3
    assert RuleScope({"enforce": "deny"}).problems
    assert RuleScope({"commands": ["x"]}).problems
    assert RuleScope({}).problems == []
    many = RuleScope({"paths": ["{a,b}", *"x" * 200]})
    assert (len(many.paths), len(many.problems)) == (99, 1)


def test_globs_in_one_text_stand_between_commas() -> None:
    scope = RuleScope({"paths": "*.ts, src/{a,b}.py", "commands": "git push", "enforce": "ask"})
    assert scope.paths == ["*.ts", "src/{a,b}.py"]
    assert scope.describe() == "ask: git push; ask writing: *.ts, src/{a,b}.py"
    assert scope.find_path("src/b.py") == "src/{a,b}.py"
    assert scope.sign("project:x") != RuleScope({"paths": "*.ts", "enforce": "ask"}).sign("x")
