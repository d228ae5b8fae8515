"""The memory tool that Anthropic's models were trained on: six commands on files below /memories.

The files are the blocks: /memories/human.md is the block `human`. Replies and errors have the
wording of the memory tool's reference; errors of memfs alone have their own.
"""

from collections.abc import Callable

from memfs.core import label
from memfs.core.block import Block
from memfs.core.body_edits import Create, Delete, Edit, Insert, Rename, Replace
from memfs.core.errors import MemfsError
from memfs.core.escaping import flatten_text
from memfs.core.privacy import excerpt
from memfs.store import blocks
from memfs.tools import core_memory
from memfs.tools.catalog import ROOT
from memfs.tools.definition import Arguments, VerbatimError
from memfs.tools.tool_context import ToolContext

_SUFFIXES = (".md", ".txt", ".xml", ".json", ".yaml", ".yml")
_NO_PATH = "The path {} does not exist. Please provide a valid path."
_NO_PATH_TO_EDIT = f"Error: {_NO_PATH}"
_GONE = "Error: The path {} does not exist"
_REPLIES = {
    "create": "File created successfully at: {path}",
    "insert": "The file {path} has been edited.",
    "delete": "Successfully deleted {path}",
    "rename": "Successfully renamed {old_path} to {new_path}",
}
_AROUND = 4  # lines shown around an edit
_LEVELS = 2  # of folders that a listing shows


def run_command(context: ToolContext, arguments: Arguments) -> str:
    """Run one command of the tool `memory`; return its reply."""
    command = arguments["command"]
    if command == "view":
        return _view(context, arguments)
    edits = _PLANS[command](context, arguments)
    replaces = command == "str_replace"
    block = _find_block(context, str(arguments["path"])) if replaces else None
    core_memory.apply(context, edits)
    if block is not None:
        return _show_edit(block.value, context, arguments)
    return _REPLIES[command].format(**arguments)


def plan_command(context: ToolContext, arguments: Arguments) -> list[Edit]:
    """Return the edits of a command: none for `view`."""
    command = arguments["command"]
    return [] if command == "view" else _PLANS[command](context, arguments)


def _view(context: ToolContext, arguments: Arguments) -> str:
    path = _require(arguments, "path")
    block = _find_block(context, path)
    if block is not None:
        return _number_lines(path, block.value, arguments.get("view_range"))
    inside = _list_below(context, path)
    if not inside and _to_label(path):
        raise VerbatimError(_NO_PATH.format(path))
    return _format_listing(path.rstrip("/") or ROOT, inside)


def _create(context: ToolContext, arguments: Arguments) -> list[Edit]:
    path, text = _require(arguments, "path"), _require(arguments, "file_text", empty=True)
    label = _to_label(path)
    if not label or _find_block(context, path) is not None:
        raise VerbatimError(f"Error: File {path} already exists")
    return [Create(label, f"Notes stored as {path}", text)]


def _str_replace(context: ToolContext, arguments: Arguments) -> list[Edit]:
    path, old = _require(arguments, "path"), _require(arguments, "old_str")
    block = _require_block(context, path, _NO_PATH_TO_EDIT)
    count = block.value.count(old)
    if not count:
        raise VerbatimError(
            f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        )
    if count > 1:
        lines = ", ".join(str(number) for number in _find_lines(block.value, old))
        raise VerbatimError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
            f"{lines}. Please ensure it is unique"
        )
    return [Replace(_qualify(block), old, str(arguments.get("new_str") or ""))]


def _insert(context: ToolContext, arguments: Arguments) -> list[Edit]:
    path, text = _require(arguments, "path"), _require(arguments, "insert_text")
    block = _require_block(context, path, _GONE)
    lines = len(block.value.split("\n")) if block.value else 0
    line = arguments.get("insert_line")
    if not isinstance(line, int) or not 0 <= line <= lines:
        raise VerbatimError(
            f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of "
            f"lines of the file: [0, {lines}]"
        )
    return [Insert(_qualify(block), line, text)]


def _delete(context: ToolContext, arguments: Arguments) -> list[Edit]:
    path = _require(arguments, "path")
    blocks = _find_blocks(context, path, f"Error: Cannot delete the {ROOT} directory itself")
    return [Delete(_qualify(each)) for each in blocks]


def _rename(context: ToolContext, arguments: Arguments) -> list[Edit]:
    old, new = _require(arguments, "old_path"), _require(arguments, "new_path")
    blocks = _find_blocks(context, old, f"Error: Cannot rename the {ROOT} directory itself")
    top, target = _to_label(old).rpartition(":")[2], _to_label(new)
    if not target or _find_block(context, new) is not None or _list_below(context, new):
        raise VerbatimError(f"Error: The destination {new} already exists")
    return [Rename(_qualify(each), target + each.label.removeprefix(top)) for each in blocks]


_PLANS: dict[str, Callable[[ToolContext, Arguments], list[Edit]]] = {
    "create": _create,
    "str_replace": _str_replace,
    "insert": _insert,
    "delete": _delete,
    "rename": _rename,
}


def _show_edit(before: str, context: ToolContext, arguments: Arguments) -> str:
    """Return the reply to a replacement: the numbered lines around it."""
    path, new = str(arguments["path"]), str(arguments.get("new_str") or "")
    line = before.count("\n", 0, before.find(str(arguments["old_str"])))
    lines = _require_block(context, path, _GONE).value.split("\n")
    first, last = max(0, line - _AROUND), line + new.count("\n") + 1 + _AROUND
    shown = [f"{number:6}\t{each}" for number, each in enumerate(lines, 1)][first:last]
    return "\n".join(["The memory file has been edited.", *shown])


def _require(arguments: Arguments, name: str, *, empty: bool = False) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not (value or empty):
        raise MemfsError(f"the command '{arguments['command']}' needs '{name}'")
    return value


def _to_label(path: str) -> str:
    """Return the label of a path, "" for the folder itself."""
    clean = path.strip().rstrip("/")
    inside = clean == ROOT or clean.startswith(f"{ROOT}/")
    if not inside or "\\" in clean or "%" in clean or ".." in clean.split("/"):
        raise VerbatimError(
            f"Error: Path must be within {ROOT} directory, got: {excerpt(path, 200)}; the block "
            f"'human' is the file {ROOT}/human.md"
        )
    name = clean[len(ROOT) + 1 :]
    suffix = next(filter(name.endswith, _SUFFIXES), "")
    return label.normalise(name.removesuffix(suffix)).replace(".", "_")


def _find_block(context: ToolContext, path: str) -> Block | None:
    label = _to_label(path)
    found = blocks.resolve_label(context.place(), label) if label else None
    return blocks.read(*found) if found else None


def _require_block(context: ToolContext, path: str, message: str) -> Block:
    found = _find_block(context, path)
    if found is None:
        raise VerbatimError(message.format(path))
    return found


def _list_below(context: ToolContext, path: str) -> list[Block]:
    """Return the blocks in a folder; of several with one label that of the nearest tier."""
    top = _to_label(path)
    nearest: dict[str, Block] = {}
    for block in blocks.load(context.place()):
        if not top or block.label.startswith(f"{top}/"):
            nearest.setdefault(block.label, block)
    return list(nearest.values())


def _find_blocks(context: ToolContext, path: str, root: str) -> list[Block]:
    """Return the block at a path, or all blocks of a folder."""
    if not _to_label(path):
        raise VerbatimError(root)
    block = _find_block(context, path)
    found = [block] if block is not None else _list_below(context, path)
    if not found:
        raise VerbatimError(_GONE.format(path))
    return found


def _qualify(block: Block) -> str:
    return label.qualify(block.tier, block.label)


def _number_lines(path: str, text: str, asked: object) -> str:
    lines = text.split("\n")
    first, last = 1, len(lines)
    if isinstance(asked, list) and len(asked) == 2:
        first, last = int(asked[0]), len(lines) if asked[1] == -1 else int(asked[1])
        if not 1 <= first <= len(lines) or last < first:
            bounds = f"[{asked[0]}, {asked[1]}] of {len(lines)} lines"
            raise VerbatimError(f"Error: Invalid `view_range` parameter: {bounds}")
    shown = [f"{number:6}\t{line}" for number, line in enumerate(lines, 1)][first - 1 : last]
    head = flatten_text(f"Here's the content of {path} with line numbers:")
    return "\n".join([head, *shown])


def _format_listing(path: str, blocks: list[Block]) -> str:
    top = _to_label(path)
    sizes: dict[str, int] = {}
    for block in blocks:
        rest = block.label.removeprefix(top).strip("/").split("/")
        size = len(block.raw.encode("utf-8", "surrogateescape"))
        for depth in range(1, min(len(rest), _LEVELS) + 1):
            is_file = depth == len(rest)
            name = "/".join([path, *rest[:depth]]) + (".md" if is_file else "")
            sizes[name] = sizes.get(name, 0) + size
    total = sum(len(each.raw.encode("utf-8", "surrogateescape")) for each in blocks)
    lines = [f"{_format_size(size)}\t{flatten_text(name)}" for name, size in sorted(sizes.items())]
    head = (
        f"Here're the files and directories up to {_LEVELS} levels deep in {path}, excluding "
        "hidden items and node_modules:"
    )
    return "\n".join([flatten_text(head), f"{_format_size(total)}\t{flatten_text(path)}", *lines])


def _format_size(count: int) -> str:
    return f"{count / 1024:.1f}K" if count < 1 << 20 else f"{count / (1 << 20):.1f}M"


def _find_lines(text: str, part: str) -> list[int]:
    found, at = [], text.find(part)
    while at >= 0:
        found.append(text.count("\n", 0, at) + 1)
        at = text.find(part, at + len(part))
    return found
