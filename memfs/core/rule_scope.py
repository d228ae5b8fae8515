"""Which files and commands a block is about: the globs of its front matter. Hot path.

In `paths` `*` and `?` stay in a folder, `**` crosses folders, `{a,b}` is either. A glob without a
slash is of any folder, one that ends with a slash of all below it. Matching takes bounded time.
"""

import posixpath

from memfs.core import frontmatter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ASK, DENY = "ask", "deny"
KEYS = ("paths", "commands", "enforce")
_LONGEST = 300  # characters of a glob
_MOST = 100  # globs of a key, with braces expanded
_IN_LIST = r"(?:[^,{]|\{[^{}]*\}|\{.*)+"  # a glob: commas part globs, but not within braces
_MORE = " *"  # a command may have more words than its glob


class RuleScope:
    """What a block is about. `enforce` is "", `ask` or `deny`; `problems` names what is ignored."""

    __slots__ = ("commands", "enforce", "paths", "problems")

    def __init__(self, meta: "dict[str, object]") -> None:
        self.problems: list[str] = []
        self.paths = self._read(meta, "paths")
        self.commands = self._read(meta, "commands")
        enforce = meta.get("enforce", "")
        self.enforce = enforce if isinstance(enforce, str) and enforce in (ASK, DENY) else ""
        if enforce and not self.enforce:
            self.problems.append(f"'enforce' must be 'ask' or 'deny', not {enforce!r}")
        elif self.enforce and not (self.paths or self.commands):
            self.problems.append("'enforce' needs 'commands' or 'paths'")
        elif self.commands and not self.enforce:
            self.problems.append("'commands' needs 'enforce: ask' or 'enforce: deny'")

    def find_path(self, path: str) -> str:
        """Return the glob that matches a path relative to the project, "" for none."""
        return next((glob for glob in self.paths if matches_path(glob, path)), "")

    def find_command(self, command: str) -> str:
        """Return the glob that matches a simple command (see `shell_commands`), "" for none."""
        return next((glob for glob in self.commands if matches_command(glob, command)), "")

    def describe(self) -> str:
        """Return what the block is for in words, "" for everything."""
        parts = [f"{self.enforce}: {glob}" for glob in self.commands if self.enforce]
        if self.paths:
            writing = f"{self.enforce} writing: " if self.enforce else "for "
            parts.append(writing + ", ".join(self.paths))
        return "; ".join(parts)

    def sign(self, name: str) -> str:
        """Return a text that is the same as long as the block of a name enforces the same."""
        return "\0".join((name, self.enforce, "\n".join(self.paths), "\n".join(self.commands)))

    def _read(self, meta: "dict[str, object]", key: str) -> "list[str]":
        value = meta.get(key)
        if value is None:
            return []
        import re  # of the few blocks with globs: a list of tools goes without

        listed = re.findall(_IN_LIST, value) if isinstance(value, str) else value
        if not isinstance(listed, list):
            self.problems.append(f"'{key}' must be a list of globs")
            return []
        found: list[str] = []
        room = _MOST
        for glob in listed:
            wrong = find_problem(glob)
            room -= 0 if wrong else len(_expand_braces(glob) or ())
            if room < 0:
                self.problems.append(
                    f"'{key}' has more than {_MOST} globs, so {glob!r} and all after it are ignored"
                )
                break
            if wrong:
                self.problems.append(f"{key}: {wrong}")
            else:
                found.append(glob.strip())
        return found


def has_scope(raw: str) -> bool:
    """Tell cheaply whether the text of a block may name paths or be enforced."""
    if not raw.startswith(("---", f"{frontmatter.BOM}---")):
        return "\0" in raw  # another encoding
    head = raw[: raw.find("\n---", 3)]
    return "paths" in head or "enforce" in head


def find_problem(glob: object) -> str:
    """Return why a glob cannot be used, "" if it can."""
    if not isinstance(glob, str) or not glob.strip():
        return f"{glob!r} is not a glob"
    if len(glob) > _LONGEST:
        return f"a glob has {len(glob):,} characters, the limit is {_LONGEST}"
    if not glob.isprintable():
        return f"{glob!r} has invisible characters"
    expanded = _expand_braces(glob)
    if expanded is None:
        return f"{glob!r} has unmatched or nested braces"
    return "" if len(expanded) <= _MOST else f"{glob!r} expands to more than {_MOST} globs"


def matches_path(glob: str, path: str) -> bool:
    """Tell whether a glob matches a path relative to the project, with slashes."""
    parts = path.split("/")
    for each in _expand_braces(glob) or ():
        plain = each.removeprefix("./").removeprefix("/")
        plain += "**" if plain.endswith("/") else ""
        wanted = plain.split("/") if "/" in plain else ["**", plain]
        if _match(wanted, parts, "**", _matches_name):
            return True
    return False


def matches_command(glob: str, command: str) -> bool:
    """Tell whether a glob matches a command or its first words; without a path, any program."""
    program, space, rest = command.partition(" ")
    bare = posixpath.basename(program) + space + rest
    for each in _expand_braces(glob) or ():
        plain = " ".join(each.split())
        text = command if "/" in plain.partition(" ")[0] else bare
        if _matches_name(plain, text) or _matches_name(plain + _MORE, text):
            return True
    return False


def _matches_name(glob: str, text: str) -> bool:
    return _match(glob, text, "*", lambda wanted, character: wanted in ("?", character))


def _match(
    wanted: "Sequence[str]",
    found: "Sequence[str]",
    star: str,
    is_same: "Callable[[str, str], bool]",
) -> bool:
    """Tell whether a sequence matches one with stars, each of which is any number of items.

    Only the last star is tried again: what an earlier one could take it can take as well.
    """
    at = place = 0
    last, behind = -1, 0
    while place < len(found):
        if at < len(wanted) and wanted[at] == star:
            last, behind = at, place
            at += 1
        elif at < len(wanted) and is_same(wanted[at], found[place]):
            at += 1
            place += 1
        elif last >= 0:
            at = last + 1
            behind += 1
            place = behind
        else:
            return False
    return all(each == star for each in wanted[at:])


def _expand_braces(glob: str) -> "list[str] | None":
    """Return what a glob with braces stands for, a few more than allowed at most; None: broken."""
    import re  # as above

    parts = re.split(r"\{([^{}]*)\}", glob)  # every second one is what braces enclose
    if any("{" in part or "}" in part for part in parts[::2]):
        return None
    found = [""]
    for at, part in enumerate(parts):
        options = part.split(",") if at % 2 else [part]
        found = [each + option for each in found for option in options][: _MOST + 1]
    return found
