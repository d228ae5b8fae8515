"""The only module that starts git. It never runs a command that a repository names.

git starts at the top of the working tree that we found, with commands of `_PLAIN` alone: none of
them filters, signs, pages or edits. It writes only into the repository's own folder.
"""

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import IO, NamedTuple

from memfs import files
from memfs.core.errors import StoreError
from memfs.files import account
from memfs.store import worktrees

_DRIVER = "merge.memfs.driver"

_TREES = ("logs", "refs", "reftable", "worktrees")  # git writes files at any depth of these

TOO_LONG = 124  # the exit code that stands for it
LARGEST_OUTPUT = 64 << 20  # bytes; of what only reads, and would say more, nothing is taken
_LARGEST_HEAP = 2 << 30  # bytes that git may have in memory: an object unpacks to any size
_READING, _WRITING = 5, 20  # seconds
_WALKING = ("rev-list", "diff-tree", "fast-import")  # they may take long for honest reasons
_PAUSE = 60  # seconds for which git is not asked again where it did not answer
_silent: dict[str, float] = {}  # until when, by the top of a working tree
_SETTINGS = (
    f"core.hooksPath={os.devnull}",  # of references, and of the index
    "core.fsmonitor=false",
    "safe.bareRepository=explicit",  # one that lies in a tree is none
    "log.showSignature=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
# Options of every command, so that neither it nor what it starts runs a program.
_CALM = ("--no-pager", *(word for each in _SETTINGS for word in ("-c", each)))
_ANY = ("",)
# Each command with the options of which one is required (without it may run programs), and those
# with which it writes nothing.
_PLAIN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "cat-file": (("blob", "--batch", "--batch-check"), _ANY),
    "check-attr": (_ANY, _ANY),
    "check-ignore": (_ANY, _ANY),
    "config": (_ANY, ("--get", "--get-all", "--get-regexp")),
    "diff-tree": (("--raw",), _ANY),
    "fast-import": (_ANY, ()),
    "hash-object": (("--no-filters",), ()),
    "ls-files": (("-s",), _ANY),
    "ls-tree": (_ANY, _ANY),
    "read-tree": (_ANY, ()),
    "rev-list": (_ANY, _ANY),
    "rev-parse": (_ANY, _ANY),
    "symbolic-ref": (_ANY, ("--quiet",)),
    "update-index": (("--index-info",), ()),
    "update-ref": (_ANY, ()),
    "var": (_ANY, _ANY),
    "worktree": (("--no-checkout", "prune"), ()),
}
# Those that talk to a remote: by protocols that run no command but ssh and git's own.
_REMOTE: dict[str, tuple[str, ...]] = {
    "fetch": ("--no-recurse-submodules",),
    "ls-remote": _ANY,
    "push": ("--no-recurse-submodules",),
}
_PROTOCOLS = "file:https:ssh"
_LARGEST_PACK = 1 << 30  # bytes of what a remote sends
_TALKING = 300  # seconds
_CHECKED = (
    *("-c", "transfer.fsckObjects=true", "-c", "push.gpgSign=false", "-c", "push.followTags=false"),
    *("-c", "credential.interactive=false"),
)
_BARE = ("--bare", "--initial-branch=main")
# git's side of a remote that is a folder, whose configuration came with it.
_FAR = "-c core.alternateRefsCommand=true -c receive.autogc=false"
_FAR_SIDE = " ".join(["git", *_CALM, _FAR, "-c receive.denyCurrentBranch=refuse"])
_INDEXING = ("read-tree", "update-index")  # they write an index, and compare files as new as it
_KEPT = ("GIT_CONFIG_NOSYSTEM",)
# What names a file or folder of the user's: one in the working tree is the project's.
_NAMING = ("GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "HOME", "XDG_CONFIG_HOME")


class GitHead(NamedTuple):
    """What is checked out: git's own folder, the branch ("" for none), the commit ("" for none)."""

    folder: str
    branch: str
    commit: str


def run(
    folder: str, *arguments: str, paths: Sequence[str] = (), data: bytes = b"", index: str = ""
) -> str | None:
    """Run git as `start` does; return its output, None if there is none or it failed."""
    done = start(folder, *arguments, paths=paths, data=data, index=index)
    if done is None or done.returncode:
        return None
    return done.stdout.decode("utf-8", "surrogateescape")


def start(
    folder: str,
    *arguments: str,
    paths: Sequence[str] = (),
    data: bytes = b"",
    seconds: float = 0,
    index: str = "",
) -> subprocess.CompletedProcess[bytes] | None:
    """Run git for the working tree that `folder` is in, to its end; `TOO_LONG` ends it.

    `paths` are names below `folder`; whatever git prints has names from the top on (see `prefix`).
    `index` is the file of another index than the usual one: that of the commit a git hook runs for.
    Returns None where there is no working tree, or no git. Where it did not answer in time it is
    not asked again for a minute. Raises `StoreError` for what would write elsewhere.
    """
    required, reading = _PLAIN.get(arguments[0], ((), ()))
    if not _has_one(arguments, required):
        raise ValueError(
            f"git {arguments[0]} is not allowed: it may run programs that a repository names"
        )
    top = top_level(folder)
    if top is None:
        return None
    reads = _has_one(arguments, reading)
    if time.monotonic() < _silent.get(top, 0):
        return _make_timeout_result(arguments)
    if not reads:
        check_folder(top)
    env = _build_environment(top)
    # Where git begins to look, and where it ends; that the files are here is not for
    # `core.worktree` to deny. Whose repository it may be (`safe.directory`) is left to git.
    env |= {"GIT_CEILING_DIRECTORIES": os.path.dirname(top), "GIT_WORK_TREE": top}
    if index:
        env["GIT_INDEX_FILE"] = index
    before = prefix(folder)
    words = ["-C", top, *_CALM]
    if arguments[0] in _INDEXING:
        unfiltered = _list_filter_overrides(folder)
        if unfiltered is None:
            return None
        words += unfiltered
    if arguments[0] != "check-ignore":  # it takes names alone, and refuses to be told so
        words.append("--literal-pathspecs")
    names = ["--", *(f"./{before}{path}" for path in paths)] if paths else []
    most = LARGEST_OUTPUT if reads else 0
    limit = seconds or (_READING if reads else _WRITING)
    done = _run_process([*words, *arguments, *names], env, data, limit, most)
    if done is not None and done.returncode == TOO_LONG and arguments[0] not in _WALKING:
        _silent[top] = time.monotonic() + _PAUSE
    return done


def ask_remote(
    folder: str, url: str, *arguments: str, references: Sequence[str] = ()
) -> subprocess.CompletedProcess[bytes]:
    """Run a command of `_REMOTE` in a repository of ours, for an address that its user gave.

    The user's own configuration counts: how ssh is called, what helps with passwords. git asks for
    none. Of a remote that is a folder, no program runs that it names.
    """
    if not _has_one(arguments, _REMOTE.get(arguments[0], ())):
        raise ValueError(f"git {arguments[0]} is not allowed with a remote")
    check_folder(folder)
    env = _build_environment(folder) | {"GIT_ALLOW_PROTOCOL": _PROTOCOLS}
    env["GIT_DIR"] = f"{folder}/.git"
    env.pop("SSH_ASKPASS", None)  # a project can have set it
    words = [*_CALM, *_CHECKED, *arguments]
    if url.startswith(("/", "file:")):
        side = "receive-pack" if arguments[0] == "push" else "upload-pack"
        words.append(f"--{side}={_FAR_SIDE} {side}")
    words += ["--", url, *references]
    done = _run_process(words, env, b"", _TALKING, _LARGEST_PACK)
    return done or subprocess.CompletedProcess(words, 1, b"", b"git is not on the PATH")


def make(folder: str, *, bare: bool = False) -> bool:
    """Make an empty private repository in a folder of ours; tell whether that could be done."""
    words = ["--no-pager", "init", "-q", "--template=", "--shared=0600"]
    words += [*(_BARE if bare else ()), folder]
    done = _run_process(words, _build_environment(folder), b"", _WRITING)
    return done is not None and not done.returncode


def _has_one(arguments: Sequence[str], options: Sequence[str]) -> bool:
    return not set(options).isdisjoint((*arguments, *_ANY))


def _run_process(
    words: list[str], env: dict[str, str], data: bytes, seconds: float, most: int = 0
) -> subprocess.CompletedProcess[bytes] | None:
    """Run git to its end; one that prints more than `most` bytes (0: any number) fails."""
    program = shutil.which("git", path=env["PATH"])
    if program is None:
        return None
    try:
        with (
            _open_buffer() as out,
            _open_buffer() as errors,
            subprocess.Popen(  # noqa: S603 - fixed program, no shell
                ["git", *words],  # noqa: S607 - `executable` is whole
                executable=program,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=errors,
                env=env,
            ) as process,
        ):
            try:
                _limit_resources(process.pid, most)
                process.communicate(data, seconds)
            except subprocess.TimeoutExpired:
                return _make_timeout_result(words)
            finally:
                process.kill()
            out.seek(0)
            errors.seek(0)
            return subprocess.CompletedProcess(words, process.wait(), out.read(), errors.read())
    except (OSError, ValueError):  # a name with a NUL in it is no name
        return None


def _make_timeout_result(words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.CompletedProcess(words, TOO_LONG, b"", b"git took too long")


def _open_buffer() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("git"), "w+b")
    import tempfile  # slow to load

    return tempfile.TemporaryFile()  # pragma: no cover - not Linux


def _limit_resources(process: int, most: int) -> None:
    """Limit the memory of a process and, except for 0, the size of the files it writes."""
    with suppress(ImportError, AttributeError, OSError, ValueError):  # Linux has it, others not
        import resource  # not on Windows

        resource.prlimit(process, resource.RLIMIT_DATA, (_LARGEST_HEAP, _LARGEST_HEAP))
        if most:
            resource.prlimit(process, resource.RLIMIT_FSIZE, (most, most))


def _list_filter_overrides(folder: str) -> list[str] | None:
    """Return the options that turn off all filters: a file's own bytes are compared then.

    A filtered file then counts as changed, and git looks at it again. None: a filter cannot be
    turned off, as git would take half of its name for a value.
    """
    done = start(folder, "config", "-z", "--name-only", "--get-regexp", r"^filter\.")
    if done is None or done.returncode not in (0, 1):  # 1 is for none
        return None
    keys = done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
    names = sorted({key.rpartition(".")[0] for key in keys})
    if any("=" in name for name in names):
        return None
    off = ("clean=", "smudge=", "process=", "required=false")
    return [word for name in names for each in off for word in ("-c", f"{name}.{each}")]


def _build_environment(top: str) -> dict[str, str]:
    """Return our environment without the repository a hook runs in, and with all doors shut."""
    trees = {os.path.realpath(tree) for tree in (top, worktrees.git_folder(top)[0])}
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("GIT_") or key in (*_KEPT, *_NAMING)
    }
    for key in _NAMING:
        path = env.get(key, "/")
        real = os.path.realpath(path) + ("" if key == "HOME" else os.sep)  # a home may be a tree
        if not os.path.isabs(path) or any(real.startswith(f"{tree}{os.sep}") for tree in trees):
            del env[key]
    return {
        **env,
        "PATH": account.clean_path(top),
        "GIT_ALLOW_PROTOCOL": "none",  # a git that does not know the next line asks in vain
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",  # a text is what its id says
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        # A configuration may name a file into which git writes what it does: these say more.
        "GIT_TRACE": "0",
        "GIT_TRACE2": "0",
        "GIT_TRACE2_EVENT": "0",
        "GIT_TRACE2_PERF": "0",
    }


def check_folder(folder: str) -> None:
    """Raise `StoreError` if what git writes for a working tree could land in another place."""
    wrong = foreign_part(folder)
    if wrong:
        raise StoreError(
            f"memfs does not let git write to this repository: {wrong}",
            "check where .git points: whoever made the repository could have redirected it",
        )


def foreign_part(folder: str) -> str:
    """Return which part of git's folder leads elsewhere or is another working tree's, or ""."""
    top = top_level(folder)
    if top is None:
        return ""
    dot = f"{top}/.git"
    if os.path.islink(dot):
        return f"{dot} is a link"
    # It is git that says where it would write: how it reads `.git` is not to be guessed.
    lines = (run(top, "rev-parse", "--git-dir", "--git-common-dir") or "").split("\n")
    if len(lines) != 3:
        return f"git cannot find the repository of {top}"
    own, common = (os.path.join(top, name) for name in lines[:2])
    if own == dot:
        known = common == dot
    elif own != common:  # a linked worktree: the repository has it on its list
        back = (files.read(f"{own}/gitdir", cap=4096) or "").rstrip("\n")
        known = os.path.dirname(own) == f"{common}/worktrees" and _is_same(own, back, dot)
    else:  # a submodule
        back = run(top, "config", "--type=path", "--get", "core.worktree") or ""
        known = _is_same(own, back.rstrip("\n"), top)
    if not known:
        return f"{dot} leads to {common}, which is the repository of another folder"
    return find_link(own) or find_link(common)


def _is_same(folder: str, name: str, path: str) -> bool:
    """Tell whether a name, relative to a folder, is the same file as a path."""
    found = os.path.join(folder, name)
    return bool(name) and "\0" not in name and os.path.realpath(found) == os.path.realpath(path)


def top_level(folder: str) -> str | None:
    """Return the top of the working tree that `folder` is in: the nearest folder with a `.git`."""
    path = top = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(top, ".git")):
        top, below = os.path.dirname(top), top
        if top == below:
            return None
    return None if f"{path}{os.sep}".startswith(os.path.join(top, ".git", "")) else top


def find_refusal(folder: str) -> tuple[str, str]:
    """Return why git does nothing for a working tree, and what to do; ("", "") if it works."""
    top = top_level(folder)
    if top is None:
        return "", ""
    done = start(folder, "rev-parse", "--git-dir")
    if done is None:
        return "git is not on the PATH, so memfs sees no commits or pulled changes", "install git"
    if b"safe.directory" in done.stderr:
        command = f"git config --global --add safe.directory {shlex.quote(top)}"
        hint = f"if you trust the folder, run {command}"
        return f"git refuses to use {top}, because the folder belongs to another user", hint
    return "", ""


def prefix(folder: str) -> str:
    """Return the path of `folder` below the top level with a slash, "" for the top."""
    within = os.path.relpath(os.path.realpath(folder), top_level(folder) or folder)
    return "" if within == os.curdir else within.replace(os.sep, "/") + "/"


def attributes(folder: str, names: Iterable[str], *which: str) -> dict[str, dict[str, str]]:
    """Return the git attributes of files below `folder`, by name; {} if git fails."""
    before = prefix(folder)
    data = b"".join(os.fsencode(f"{before}{name}") + b"\0" for name in names)
    if not data:
        return {}
    fields = (run(folder, "check-attr", "-z", "--stdin", *which, data=data) or "").split("\0")
    found: dict[str, dict[str, str]] = {}
    for name, attribute, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        found.setdefault(name.removeprefix(before), {})[attribute] = value
    return found


def is_ignored(path: str) -> bool:
    """Tell whether git ignores a path; True outside git, where nothing can be committed."""
    folder, name = os.path.split(path)
    done = start(folder, "check-ignore", "-q", paths=[name])
    return done is None or done.returncode != 1


def filter_unignored(folder: str, names: Iterable[str]) -> list[str]:
    """Return the names below `folder` that git does not ignore, sorted."""
    candidates = sorted(names)
    if not candidates:
        return []
    before = f"./{prefix(folder)}"  # a name that begins with a colon is one, too
    data = b"".join(os.fsencode(f"{before}{name}") + b"\0" for name in candidates)
    output = run(folder, "check-ignore", "-z", "--stdin", data=data) or ""  # it fails if none is
    ignored = {name.removeprefix(before) for name in output.split("\0")}
    return [name for name in candidates if name not in ignored]


def get_head_commit(folder: str, reference: str = "HEAD") -> str:
    """Return the id of the checked-out commit, or of another reference's, "" for none."""
    return (run(folder, "rev-parse", "--verify", "--quiet", reference) or "").rstrip("\n")


def checked_out(folder: str) -> GitHead | None:
    """Return the checked-out branch and commit of `folder`, None outside git."""
    words = ("rev-parse", "--absolute-git-dir", "HEAD", "--symbolic-full-name", "HEAD")
    done = start(folder, *words)
    lines = done.stdout.decode("utf-8", "surrogateescape").split("\n") if done else []
    if done is None or len(lines) < 3:
        return None
    if done.returncode:  # there is no commit yet
        branch = run(folder, "symbolic-ref", "--quiet", "HEAD") or ""
        return GitHead(lines[0], branch.rstrip("\n"), "")
    return GitHead(lines[0], lines[2] if lines[2] != "HEAD" else "", lines[1])


def get_identity(folder: str) -> str:
    """Return the author of new commits as "Name <mail>", "" where git does not know."""
    found = run(folder, "var", "GIT_AUTHOR_IDENT") or ""
    return found.rpartition("> ")[0] + ">" if "> " in found else ""


def find_link(folder: str) -> str:
    """Return which part of git's folder, of those git writes through, is a link; "" for none.

    Hooks may be linked: none is run. A file of objects is replaced, never written again.
    """
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(path) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            return f"{path} cannot be read: {error.strerror}"
        for entry in entries:
            if entry.is_symlink() and not (path == folder and entry.name == "hooks"):
                return f"{entry.path} is a link"
            descends = path != folder or entry.name in (*_TREES, "objects")
            if descends and path != f"{folder}/objects" and entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
    return ""


def get_driver(folder: str) -> str:
    """Return the command that merges blocks in the repository of `folder`, "" if none is set."""
    return (run(folder, "config", "--local", "--get", _DRIVER) or "").rstrip("\n")


def set_driver(folder: str, command: str) -> bool:
    """Register the command that merges blocks in this clone, "" for none; tell if that was done."""
    if top_level(folder) is None or get_driver(folder) == command or foreign_part(folder):
        return False
    # The command alone: a driver that has a name and no command makes every merge fail.
    words = (_DRIVER, command) if command else ("--unset-all", _DRIVER)
    return run(folder, "config", "--local", *words) is not None


def get_merge_driver(folder: str, name: str) -> str:
    """Return the merge driver that the attributes name for a path below `folder`."""
    return attributes(folder, [name], "merge").get(name, {}).get("merge", "")
