"""Results of a search: hits, and the sessions that they are from."""

from dataclasses import dataclass, field

from memfs.core.snippet import format_location, shorten

MEMBER = "member"  # in the metadata of a hit: who of a team shared it


@dataclass(frozen=True, repr=False)
class Hit:
    """One search result.

    `kind` is message, passage, fact, static, block, source or commit; `why` says what matched;
    `score` is the fused score (0 to 1, comparable within one index only). `before` and `after` are
    the turns beside a message, shortened; `alike` counts hits that say the same and are not shown.
    `speaker` is the name of who said a message; `metadata` is what was stored with a window of a
    conversation, of a data source (its name is the `label`) the file, heading, line and end, and
    of a commit its whole id and its author; the short id is its `label`.
    """

    id: str
    kind: str
    text: str
    snippet: str
    why: tuple[str, ...]
    score: float
    at: str = ""
    role: str = ""
    host: str = ""
    session: str = ""
    project: str = ""
    branch: str = ""
    tags: tuple[str, ...] = ()
    importance: int = 0
    label: str = ""
    before: str = ""
    after: str = ""
    alike: int = 0
    speaker: str = ""
    metadata: dict[str, object] = field(default_factory=dict, hash=False)

    @property
    def who(self) -> str:
        """The name of the speaker, or the role."""
        return self.speaker or self.role

    @property
    def sharer(self) -> str:
        """Who of a team shared a message and in which project, "" for an own one."""
        member = self.metadata.get(MEMBER) if self.kind == "message" else None
        return f"shared by {member} in {self.project}" if member else ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of what it shows to a session."""
        return (self.id,)

    @property
    def location(self) -> str:
        """The file and line in a data source, as `docs/setup.md:12`; "" for other kinds."""
        return format_location(self.metadata) if self.kind == "source" else ""

    def __repr__(self) -> str:
        parts = (self.kind, self.label or self.host, self.who, self.at[:10], f"{self.score:.2f}")
        return f"<Hit {' '.join(filter(None, parts))}: {shorten(self.snippet)}>"


@dataclass(frozen=True, repr=False)
class SessionHit:
    """One session among the results: its best hits, the best first; `turns` of it were ranked."""

    session: str
    host: str
    project: str
    branch: str
    at: str
    score: float
    turns: int
    hits: tuple[Hit, ...]

    def __repr__(self) -> str:
        best = f": {shorten(self.hits[0].snippet)}" if self.hits else ""
        head = f"{self.session} {self.host} {self.at[:10]} {self.score:.2f}"
        return f"<SessionHit {head}, {self.turns} turns{best}>"
