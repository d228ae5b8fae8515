"""Repositories that came as a folder: each door by which git would run a program of their maker.

Every program leaves a mark, a file of the door's name; so does what git writes elsewhere. What ordinary git opens of them is in
`OPENED`, for the test that the doors are none that are only painted on.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

STORE = ".agent-memory"
HOOKS = (
    *"applypatch-msg commit-msg post-checkout post-commit post-index-change post-merge".split(),
    *"post-rewrite pre-auto-gc pre-commit pre-merge-commit pre-push prepare-commit-msg".split(),
    *"reference-transaction fsmonitor-watchman sendemail-validate".split(),
)
# What the configuration calls a program, by the option; the rest is about which one is called.
OPTIONS = (
    *"core.fsmonitor core.pager core.sshCommand core.gitProxy core.askPass core.editor".split(),
    *"core.alternateRefsCommand sequence.editor gpg.program gpg.ssh.program".split(),
    *"gpg.x509.program gpg.ssh.defaultKeyCommand diff.external diff.conv.textconv".split(),
    *"diff.cmd.command filter.clean.clean filter.clean.smudge filter.process.process".split(),
    *"merge.evil.driver credential.helper trailer.sign.command trailer.sign.cmd".split(),
    *"interactive.diffFilter uploadpack.packObjectsHook gc.recentObjectsHook".split(),
    *"mergetool.evil.cmd difftool.evil.cmd pager.log pager.diff pager.status pager.blame".split(),
    *"browser.evil.cmd web.browser".split(),
)
SHELLED = ("alias.status", "alias.log", "alias.rev-parse", "alias.ls-tree", "submodule.sub.update")
SAID = (
    ("log.showSignature", "true"),
    ("commit.gpgSign", "true"),
    ("tag.gpgSign", "true"),
    ("merge.verifySignatures", "true"),
    ("push.gpgSign", "true"),
    ("submodule.recurse", "true"),
    ("submodule.sub.url", "ext::sh"),
    ("protocol.allow", "always"),
    ("protocol.ext.allow", "always"),
    ("core.untrackedCache", "true"),
    ("diff.trustExitCode", "true"),
    ("log.diffMerges", "first-parent"),
    ("log.follow", "true"),
    ("format.pretty", "%G?"),
    ("mailmap.blob", "HEAD:.mailmap"),
    ("user.name", "Eve"),
    ("user.email", "eve@example.invalid"),
)
ATTRIBUTES = f"""\
* merge=evil
{STORE}/blocks/clean.md filter=clean diff=conv
{STORE}/blocks/process.md filter=process diff=cmd
{STORE}/blocks/conv.md diff=conv
AGENTS.md filter=clean
"""
# Of the doors of a world, those by which ordinary git goes here.
OPENED = {
    "config": {
        *"core.fsmonitor gpg.program diff.conv.textconv diff.cmd.command diff.external".split(),
        *"filter.clean.clean filter.process.process hooks/pre-commit".split(),
        *"hooks/post-index-change hooks/reference-transaction".split(),
    },
    "hooks path": {"hooks/pre-commit", "hooks/post-index-change", "hooks/reference-transaction"},
    "worktree config": {"core.fsmonitor", "gpg.program"},
    "include": {"core.fsmonitor", "gpg.program"},
    "partial": {"uploadpack"},
    "ext": {"transport"},
    "gitfile": {"core.fsmonitor", "gpg.program", "filter.clean.clean"},
    "core.worktree": {"core.fsmonitor", "gpg.program"},
    "embedded": set(),  # git from 2.38 on asks whose it is; memfs must not even come to it
    "environment": {"core.fsmonitor", "gpg.program"},
    "user's files": {"trace2", "core.fsmonitor"},
    "links": {"logs", "index"},
}


class World:
    """A folder that somebody unpacks: `top` has the store, `marks` shows what ran."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.top, self.marks = folder, folder / "unpacked", folder / "marks"
        self.bin = folder / "bin"
        for made in (self.top, self.marks, self.bin):
            made.mkdir(parents=True)
        self.cwd = self.top
        self.variables: dict[str, str] = {}

    def ran(self) -> set[str]:
        return {
            str(path.relative_to(self.marks)) for path in self.marks.rglob("*") if path.is_file()
        }

    def program(self, door: str, then: str = 'case "$1" in /*|.*) cat "$1";; *) cat;; esac') -> str:
        """Make the program of a door; it is a filter that changes nothing, if nothing else."""
        mark, path = self.marks / door, self.bin / door.replace("/", "-")
        mark.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n: > '{mark}'\n{then}\n")
        path.chmod(0o755)
        return str(path)

    def git(self, *words: str, data: str = "", check: bool = True, **more: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.top), *words],
            input=data.encode(),
            check=check,
            capture_output=True,
            env={**os.environ, **more},
            timeout=20,
        )
        return done.stdout.decode().strip()

    def config(self, name: str, value: str, *words: str) -> None:
        self.git("config", *words, name, value)

    def plant(self, *words: str) -> None:
        """Write all options into a file of the configuration (`words` names another than usual)."""
        for option in OPTIONS:
            self.config(option, self.program(option), *words)
        for option in SHELLED:
            self.config(option, "!" + self.program(option), *words)
        for option, value in SAID:
            self.config(option, value, *words)


def commit(world: World) -> None:
    """Make the repository, with a store in two commits that say they are signed."""
    world.git("init", "-q", "-b", "work")
    blocks = world.top / STORE / "blocks"
    blocks.mkdir(parents=True)
    (world.top / STORE / "config.yaml").write_text(
        "memfs: 1\ngit: {commit: edit}\ntrust: {pulled: hold}\n"
    )
    (world.top / STORE / ".gitignore").write_text("local/\n")
    (world.top / "AGENTS.md").write_text("# Rules\n\n<!-- memfs: begin -->\n<!-- memfs: end -->\n")
    for text in ("first\n", "first\nsecond\n"):
        for name in ("rules", "clean", "process", "conv"):
            (blocks / f"{name}.md").write_text(text)
        world.git("add", "-A")
        world.git("commit", "-qm", "memory")
        head, _, body = world.git("cat-file", "commit", "HEAD").partition("\n\n")
        signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
        made = world.git(
            "hash-object", "-t", "commit", "-w", "--stdin", data=f"{head}\n{signature}\n\n{body}\n"
        )
        world.git("update-ref", "HEAD", made)
    (world.top / ".gitattributes").write_text(ATTRIBUTES)
    (blocks / "rules.md").write_text("first\nsecond, changed\n")


def config(world: World) -> None:
    hooks(world, world.top / ".git/hooks")
    world.plant()


def hooks(world: World, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in HOOKS:
        shutil.copy(world.program(f"hooks/{name}"), folder / name)


def hooks_path(world: World) -> None:
    hooks(world, world.top / "tools")
    world.config("core.hooksPath", "tools")


def worktree_config(world: World) -> None:
    world.config("extensions.worktreeConfig", "true")
    world.plant("--worktree")


def include(world: World) -> None:
    world.plant("--file", str(world.folder / "more"))
    world.config("include.path", str(world.folder / "more"))


def partial(world: World) -> None:
    """Take the texts away; a remote that promises them has a program to get them."""
    lazy(world, str(world.folder / "far"))
    world.config("remote.origin.uploadpack", world.program("uploadpack", "exit 1"))


def ext(world: World) -> None:
    lazy(world, f"ext::{world.program('transport', 'exit 1')}")


def lazy(world: World, url: str) -> None:
    world.git("clone", "-q", "--bare", ".", str(world.folder / "far"))
    for name, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", url),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("protocol.allow", "always"),
    ):
        world.config(name, value)
    for line in world.git("cat-file", "--batch-all-objects", "--batch-check").splitlines():
        blob, kind, _ = line.split()
        if kind == "blob":
            (world.top / ".git/objects" / blob[:2] / blob[2:]).unlink()


def gitfile(world: World) -> None:
    config(world)
    (world.top / ".git").rename(world.folder / "elsewhere")
    (world.top / ".git").write_text(f"gitdir: {world.folder / 'elsewhere'}\n")


def core_worktree(world: World) -> None:
    world.plant()
    (world.folder / "victim").mkdir()
    (world.folder / "victim/note").write_text("private\n")
    world.config("core.worktree", str(world.folder / "victim"))


def embedded(world: World) -> None:
    """Make a repository of the store's folder, and of one that commands are run in."""
    other = World(world.folder / "other")
    other.marks, other.bin = world.marks, world.bin
    commit(other)
    other.plant()
    other.config("core.worktree", str(other.top))
    other.config("core.bare", "false")
    for folder in (world.top / STORE, world.top / "vendored"):
        shutil.copytree(other.top / ".git", folder, dirs_exist_ok=True)
    world.cwd = world.top / "vendored"


def environment(world: World) -> None:
    """Say in variables what the configuration would say, as to a hook that git runs."""
    other = World(world.folder / "other")
    other.marks, other.bin = world.marks, world.bin
    commit(other)
    other.plant()
    world.variables = {
        "GIT_DIR": str(other.top / ".git"),
        "GIT_INDEX_FILE": str(other.top / ".git/index"),
        "GIT_EXTERNAL_DIFF": world.program("GIT_EXTERNAL_DIFF"),
        "GIT_PAGER": world.program("GIT_PAGER"),
        "GIT_EDITOR": world.program("GIT_EDITOR"),
        "GIT_SSH_COMMAND": world.program("GIT_SSH_COMMAND"),
        "GIT_ASKPASS": world.program("GIT_ASKPASS"),
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": world.program("core.fsmonitor"),
        "GIT_CONFIG_KEY_1": "log.showSignature",
        "GIT_CONFIG_VALUE_1": "true",
        "GIT_CONFIG_PARAMETERS": f"'gpg.program'='{world.program('gpg.program')}'",
    }


def users_files(world: World) -> None:
    """Say in variables that files of the project are the user's configuration and git's programs."""
    named = world.top / "named"
    named.mkdir()
    for option, value in (
        ("core.fsmonitor", world.program("core.fsmonitor")),
        ("trace2.eventTarget", str(world.marks / "trace2")),
    ):
        world.config(option, value, "--file", str(named / "config"))
    own = f'unset GIT_EXEC_PATH; exec "{shutil.which("git")}" "$@"'
    shutil.copy(world.program("exec-path", own), named / "git")
    world.variables = {"GIT_CONFIG_GLOBAL": str(named / "config"), "GIT_EXEC_PATH": str(named)}


def links(world: World) -> None:
    """Lead what git writes out of its folder."""
    for name in ("logs/HEAD", "index"):
        path = world.top / ".git" / name
        path.unlink()
        path.symlink_to(world.marks / name.partition("/")[0])


WORLDS: dict[str, Callable[[World], None]] = {
    "config": config,
    "hooks path": hooks_path,
    "worktree config": worktree_config,
    "include": include,
    "partial": partial,
    "ext": ext,
    "gitfile": gitfile,
    "core.worktree": core_worktree,
    "embedded": embedded,
    "environment": environment,
    "user's files": users_files,
    "links": links,
}


def make(folder: Path, name: str) -> World:
    """Make a world."""
    world = World(folder)
    commit(world)
    WORLDS[name](world)
    return world
