"""The block: one markdown file that is kept in context. Hot path."""

from memfs.core import frontmatter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_LIMIT = 5000
WARN_AT = 0.8
MANAGED = ("version", "updated_at", "updated_by")


class Block:
    """A block as it is in its file.

    `raw` is the whole text (bytes decoded as UTF-8 with `surrogateescape`), `head` + `body` ==
    `raw`, `meta` the front matter, `problem` what is wrong with it (empty if nothing).
    """

    __slots__ = ("body", "head", "label", "meta", "path", "problem", "raw", "tier")

    def __init__(
        self, tier: str, label: str, path: str, raw: str,
        full_reader: "Callable[[str], tuple[dict[str, object], str]]",
    ) -> None:  # fmt: skip
        self.tier = tier
        self.label = label
        self.path = path
        self.raw = raw
        self.head, self.body = frontmatter.split(raw)
        self.problem = ""
        meta = frontmatter.read(self.head) if frontmatter.has_fences(self.head) else {}
        if meta is None:
            meta, self.problem = full_reader(frontmatter.inner(self.head))
        self.meta = meta

    @property
    def value(self) -> str:
        """The body as the assistant sees it: LF line ends, no line ends at the end."""
        return self.body.replace("\r\n", "\n").rstrip("\n")

    @property
    def chars(self) -> int:
        """Size of the value in characters (Unicode code points): what `limit` counts."""
        return len(self.value)

    @property
    def limit(self) -> int:
        return self._integer("limit", DEFAULT_LIMIT, minimum=1)

    @property
    def version(self) -> int:
        """The version the file names; 0 if it names none."""
        return self._integer("version", 0, minimum=0)

    @property
    def priority(self) -> int:
        return self._integer("priority", 0, minimum=-(10**9))

    @property
    def tokens(self) -> int | None:
        """The optional cap in tokens."""
        found = self._integer("tokens", 0, minimum=0)
        return found or None

    @property
    def description(self) -> str:
        found = self.meta.get("description")
        return "" if found is None else " ".join(str(found).split())

    @property
    def read_only(self) -> bool:
        return self.meta.get("read_only") is True

    @property
    def pinned(self) -> bool:
        return self.meta.get("pinned") is not False

    @property
    def tags(self) -> list[str]:
        found = self.meta.get("tags")
        return [str(tag) for tag in found] if isinstance(found, list) else []

    def odd_keys(self) -> list[tuple[str, object]]:
        """Return the known keys whose values are of the wrong kind: their defaults are used."""
        lowest = {"limit": 1, "version": 0, "tokens": 0, "priority": -(10**9)}
        odd = [
            (key, self.meta[key])
            for key, minimum in lowest.items()
            if key in self.meta and self._integer(key, minimum - 1, minimum=minimum) < minimum
        ]
        flags = [key for key in ("read_only", "pinned") if key in self.meta]
        return odd + [(k, self.meta[k]) for k in flags if not isinstance(self.meta[k], bool)]

    def _integer(self, key: str, default: int, *, minimum: int) -> int:
        found = self.meta.get(key)
        if isinstance(found, int) and not isinstance(found, bool) and found >= minimum:
            return found
        return default
