"""Blocks as resources (`memfs://blocks/<label>`, `…/<tier>:<label>`), and the prompts."""

from memfs.core import label as labels
from memfs.core.errors import MemfsError, NotFoundError, UsageError
from memfs.store import blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.core.block import Block
    from memfs.tools.tool_context import ToolContext

_PROMPTS: tuple[tuple[str, str, str, tuple[tuple[str, str, bool], ...]], ...] = (
    ("memory-review", "Review memory", "Review this session and save what is still missing.", ()),
    (
        "memory-rethink",
        "Rethink a block",
        "Rewrite a block that is full or cluttered.",
        (("label", "The block to rewrite.", True),),
    ),
)

SCHEME = "memfs://blocks/"
TYPE = "text/markdown"


def list_resources(context: "ToolContext") -> list[dict[str, object]]:
    """Return every block as a resource of the protocol; none if there is no store."""
    from memfs.core.escaping import flatten_text  # prompts are listed without it

    return [
        {
            "uri": uri,
            "name": flatten_text(block.label),
            "title": flatten_text(f"Memory block {block.label}"),
            "description": flatten_text(block.description),
            "mimeType": TYPE,
            "size": len(block.value.encode("utf-8", "surrogateescape")),
        }
        for uri, block in _list_blocks(context)
    ]


def read(context: "ToolContext", uri: str) -> str:
    """Return the text of a block. Raises `NotFoundError`."""
    from urllib.parse import unquote  # of what a client asks for

    from memfs.core.privacy import excerpt  # likewise

    if not uri.startswith(SCHEME):
        raise NotFoundError(
            f"there is no resource {excerpt(uri, 200)}", f"use a URI that starts with {SCHEME}"
        )
    return blocks.get(context.place(), unquote(uri.removeprefix(SCHEME))).value


def signatures(context: "ToolContext") -> dict[str, str]:
    """Return the raw text of every block by uri: it differs after any change."""
    return {uri: block.raw for uri, block in _list_blocks(context)}


def _list_blocks(context: "ToolContext") -> "list[tuple[str, Block]]":
    from urllib.parse import quote  # as above

    try:
        found = blocks.load(context.place())
    except MemfsError:
        return []
    seen: set[str] = set()
    named = []
    for block in found:
        hidden = block.label in seen
        seen.add(block.label)
        name = labels.qualify(block.tier, block.label) if hidden else block.label
        named.append((SCHEME + quote(name, safe="/:"), block))
    return named


def list_prompts() -> list[dict[str, object]]:
    """Return the prompts as the protocol describes them."""
    return [
        {
            "name": name,
            "title": title,
            "description": description,
            "arguments": [
                {"name": argument, "description": text, "required": required}
                for argument, text, required in arguments
            ],
        }
        for name, title, description, arguments in _PROMPTS
    ]


def render_prompt(context: "ToolContext", name: str, given: dict[str, str]) -> str:
    """Return the text of a prompt with its blocks. Raises `NotFoundError`, `UsageError`."""
    from memfs.core.escaping import flatten_text, quote_lines, quote_turn  # when one is asked for
    from memfs.core.privacy import excerpt  # likewise
    from memfs.ops import show  # likewise
    from memfs.store import resources  # likewise

    if name == "memory-review":
        found = [each.block for each in show.show_all(context.place())]
        blocks = "\n\n".join(
            quote_turn(f"[{block.label}] {block.description}", block.value) for block in found
        )
        return resources.read_text("templates", "prompts", "review.md").replace("{blocks}", blocks)
    if name == "memory-rethink":
        if not given.get("label"):
            raise UsageError(f"the prompt '{name}' needs the argument 'label'")
        shown = show.run(context.place(), given["label"]).block
        full = f"{shown.chars:,} of {shown.limit:,} characters"
        made = resources.read_text("templates", "prompts", "rethink.md")
        return (
            made.replace("{label}", flatten_text(shown.label))
            .replace("{full}", full)
            .replace("{value}", quote_lines(shown.value))
        )
    known = " or ".join(each[0] for each in _PROMPTS)
    raise NotFoundError(f"there is no prompt {excerpt(name, 80)!r}", f"use {known}")
