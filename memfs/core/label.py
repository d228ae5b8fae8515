"""Labels: the names of blocks. Hot path: no imports beyond the standard built-ins."""

from memfs.core.errors import UsageError

PROJECT = "project"
USER = "user"
SESSION = "session"
TIERS = (SESSION, PROJECT, USER)  # a bare label resolves in this order
WORKING = "working"  # of the session's scratch block

MAX_LENGTH = 64
# Of Syncthing and Resilio; of Dropbox, Nextcloud and others, in some languages, in parentheses.
_COPIES = (".sync-conflict-", ".conflict")
_CONFLICTS = ("confli", "konflikt", "競合", "冲突")
MAX_DEPTH = 3

_FIRST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_REST = _FIRST | frozenset("_-")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"]
    + [f"com{n}" for n in range(1, 10)]
    + [f"lpt{n}" for n in range(1, 10)]
)


def normalise(text: str) -> str:
    """Lower-case `text` and turn its spaces into `_`, as is done with whatever an agent passes."""
    return text.strip().lower().replace(" ", "_")


def is_conflicted_copy(name: str) -> bool:
    """Tell whether a file is what a sync tool left of a conflict, as it names such copies."""
    low = name.lower()
    inside = low[low.find("(") : low.rfind(")") + 1]
    return any([sign in low for sign in _COPIES] + [sign in inside for sign in _CONFLICTS])


def problem(label: str) -> str:
    """Return the rule that a normalised label breaks, in words; "" if it breaks none."""
    if not label:
        return "a label cannot be empty"
    if len(label) > MAX_LENGTH:
        return f"{len(label)} characters, the limit is {MAX_LENGTH}"
    segments = label.split("/")
    if len(segments) > MAX_DEPTH:
        return f"{len(segments)} levels, the limit is {MAX_DEPTH}"
    for segment in segments:
        if not segment or segment[0] not in _FIRST or not _REST.issuperset(segment):
            return "only a-z, 0-9, '_' and '-' are allowed, with '/' between levels"
        if segment in _DEVICES:
            return f"'{segment}' is a device name on Windows"
    return ""


def device(name: str) -> bool:
    """Tell whether a file name (without what is behind its dot) is a device on Windows."""
    return name.partition(".")[0].lower() in _DEVICES


def parse(text: str) -> tuple[str | None, str]:
    """Split what was typed into (tier or None, label). Raises `UsageError` for a wrong one."""
    tier: str | None = None
    name = text
    if ":" in text:
        head, _, name = text.partition(":")
        tier = normalise(head)
        if tier not in TIERS:
            raise UsageError(f"unknown tier {head!r} in {text!r}", "use session, project or user")
    label = normalise(name)
    wrong = problem(label)
    if wrong:
        raise UsageError(
            f"{name!r} is not a valid label: {wrong}",
            "use a name such as 'human', 'api' or 'services/api'",
        )
    return tier, label


def qualify(tier: str, label: str) -> str:
    """Return a label with its tier, for example `user:human`."""
    return f"{tier}:{label}"
