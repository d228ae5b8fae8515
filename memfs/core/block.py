"""The block: one markdown file that is kept in context. Hot path."""

from memfs.core import frontmatter, rule_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_LIMIT = 5000
WARN_AT = 0.8
_MOST = 10**15  # a larger number is a mistake, and cannot always be written
# The defaults of numbers, and the least that each may be.
_NUMBERS = {
    "limit": (DEFAULT_LIMIT, 1),
    "version": (0, 0),
    "tokens": (0, 0),
    "priority": (0, -(10**9)),
}
_FOREIGN = ("\udcfe", "\udcff")  # the first byte of a byte order mark that is not UTF-8's
OUTDATED = ("version", "updated_at", "updated_by")  # earlier versions of memfs wrote them
MANAGED = (*OUTDATED, "paged_out")


class Block:
    """A block as it is in its file.

    `raw` is the whole text (bytes decoded as UTF-8 with `surrogateescape`), `head` + `body` ==
    `raw`, `meta` the front matter, `problem` describes why it cannot be read (empty if it can).

    `codec` names the encoding of a file that is not UTF-8: head and body are its text then, `raw`
    its bytes. `size` is that of a file too large to be read whole: `raw` is its beginning.
    """

    __slots__ = ("body", "codec", "head", "label", "meta", "path", "problem", "raw", "size", "tier")

    def __init__(
        self,
        tier: str,
        label: str,
        path: str,
        raw: str,
        full_reader: "Callable[[str], tuple[dict[str, object], str]]",
        size: int = 0,
    ) -> None:
        self.tier = tier
        self.label = label
        self.path = path
        self.raw = raw
        self.size = size
        self.codec = ""
        text = raw
        if "\0" in raw or raw[:1] in _FOREIGN:
            from memfs.core import encodings

            self.codec = encodings.codec(raw)
            text = encodings.decode(raw, self.codec) if self.codec else raw
        self.head, self.body = frontmatter.split(text)
        self.meta: dict[str, object]
        if frontmatter.has_fences(self.head):
            self.meta, self.problem = read_front_matter(
                frontmatter.strip_fences(self.head), full_reader
            )
        else:
            self.meta, self.problem = _check_missing_fence(text)
        if self.codec:
            self.problem = f"the file is {self.codec[:6].upper()}, not UTF-8"
        if size:
            self.problem = f"the file is too large ({size:,} bytes), so only its beginning is shown"

    def __repr__(self) -> str:
        size = f"{self.chars:,} of {self.limit:,} characters"
        wrong = f", {self.problem}" if self.problem else ""
        return f"<Block {self.tier}:{self.label}: {size}{wrong}>"

    @property
    def value(self) -> str:
        """The body as the assistant sees it: LF line ends, no line ends at the end."""
        return self.body.replace("\r\n", "\n").rstrip("\n")

    @property
    def content(self) -> "tuple[dict[str, object], str]":
        """The keys that memfs does not manage itself, and the body."""
        return {key: value for key, value in self.meta.items() if key not in MANAGED}, self.body

    @property
    def chars(self) -> int:
        """Size of the value in characters (Unicode code points): what `limit` counts."""
        return len(self.value)

    @property
    def limit(self) -> int:
        return self._get_number("limit")

    @property
    def version(self) -> int:
        """The version that a file of an earlier memfs names; 0 if it names none."""
        return self._get_number("version")

    @property
    def priority(self) -> int:
        return self._get_number("priority")

    @property
    def tokens(self) -> int | None:
        """The optional cap in tokens."""
        return self._get_number("tokens") or None

    @property
    def fill(self) -> float:
        """How full it is, from 0: by its characters, or its tokens where they are capped."""
        share = self.chars / self.limit
        return max(share, self._count_tokens() / self.tokens) if self.tokens else share

    @property
    def size_in_tokens(self) -> str:
        """Its tokens and their cap, as words behind the characters; "" for no cap."""
        return f", about {self._count_tokens():,}/{self.tokens:,} tokens" if self.tokens else ""

    def _count_tokens(self) -> int:
        from memfs.core import tokens  # few blocks have a cap

        return tokens.estimate(self.value)

    @property
    def paged_out(self) -> bool:
        """Whether parts of it were paged out. Earlier versions of memfs wrote their number."""
        return bool(self.meta.get("paged_out"))

    @property
    def description(self) -> str:
        found = self.meta.get("description")
        return "" if found is None else " ".join(str(found).split())

    @property
    def read_only(self) -> bool:
        return self.meta.get("read_only") is True

    @property
    def pinned(self) -> bool:
        """Whether all of it is in the brief: what is about some files comes with these."""
        return self.meta.get("pinned") is not False and not (
            "paths" in self.meta and self.scope.paths
        )

    @property
    def scope(self) -> rule_scope.RuleScope:
        """The files and commands that it is about."""
        return rule_scope.RuleScope(self.meta)

    @property
    def tags(self) -> list[str]:
        found = self.meta.get("tags")
        return [str(tag) for tag in found] if isinstance(found, list) else []

    def odd_keys(self) -> list[tuple[str, object]]:
        """Return the known keys whose values are of the wrong kind: their defaults are used."""
        found = [
            (key, self.meta[key]) for key in (*_NUMBERS, "read_only", "pinned") if key in self.meta
        ]
        return [
            (key, value)
            for key, value in found
            if not (_is_number(key, value) if key in _NUMBERS else isinstance(value, bool))
        ]

    def _get_number(self, key: str) -> int:
        found = self.meta.get(key)
        return found if _is_number(key, found) else _NUMBERS[key][0]  # type: ignore[return-value]


def _is_number(key: str, value: object) -> bool:
    return type(value) is int and _NUMBERS[key][1] <= value <= _MOST


def read_front_matter(
    inner: str, full_reader: "Callable[[str], tuple[dict[str, object], str]]"
) -> tuple[dict[str, object], str]:
    """Read what stands between fences: (keys, problem or ""). What is no YAML is read by line."""
    found, problem = None, ""
    if len(inner) > frontmatter.MOST:
        problem = f"{len(inner):,} characters, the limit is {frontmatter.MOST:,}"
    else:
        found = frontmatter.read(inner)
        if found is None:  # a line more at the top: its line numbers are those of the file
            found, problem = full_reader("\n" + inner)
    if found is not None and not problem and _is_as_written(inner, found):
        return found, ""
    from memfs.core import front_matter_lines

    if found is None or problem:
        return front_matter_lines.read(inner), problem
    return front_matter_lines.restore_words(found, inner), ""


def _is_as_written(inner: str, meta: dict[str, object]) -> bool:
    """Tell whether the texts in front matter are what its author wrote: no number, no comment."""
    tags = meta.get("tags")
    return (
        isinstance(meta.get("description", ""), str)
        and (" #" not in inner or "description" not in meta)
        and (not isinstance(tags, list) or all(isinstance(tag, str) for tag in tags))
    )


def _check_missing_fence(text: str) -> tuple[dict[str, object], str]:
    """Return (keys, problem) of a text without fences; `read_only` counts if one is missing."""
    start = text[:32].lstrip(frontmatter.BOM)
    name = start.partition(":")[0]
    if not start.startswith("---") and (name == start or " " in name.strip() or "\n" in name):
        return {}, ""
    from memfs.core import front_matter_lines

    found = front_matter_lines.find_missing_fence(text)
    if found is None:
        return {}, ""
    which, at, fenced = found
    inner = frontmatter.strip_fences(frontmatter.split(fenced)[0])
    protected = front_matter_lines.read(inner).get("read_only") is True
    problem = f"line {at + 1}: the {which} '---' line of the front matter is missing"
    return ({"read_only": True} if protected else {}), problem
