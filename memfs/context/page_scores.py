"""Paging: when parts of blocks go out of context, their scores, and what becomes of each.

A part is a list item, a single line, or a wrapped paragraph. Headings are never paged out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memfs.core import formats
from memfs.core.block import Block
from memfs.core.privacy import excerpt
from memfs.core.records import Message
from memfs.core.tokens import estimate
from memfs.search.text_vectors import embed_texts
from memfs.store import clock, config, journal_query, recall
from memfs.store.blocks import Place

_RECENT = 50  # messages that may refer to a part
_TASK = 5  # messages of the user that stand for the task, if none is given
_LONGEST = 2000  # characters of a message that are looked at
_FREED = 0.2  # of a block's limit: freed by the parts named for a nearly full block
_MOST, _SHOWN = 3, 80  # parts that are named, and characters of each

Trigger = Literal["window", "task", "topic", "relevance", ""]

_SAID = re.compile(
    r"^(?:(?:ok(?:ay)?|now|so|good|great|thanks|right|alright|well|fine)\b[,.!: ]*)*"
    r"(?:(?:a |the )?(?:new|next|another|other|different) (?:task|topic|subject)\b|"
    r"let'?s (?:switch|move on|do something else|talk about something else)\b|"
    r"(?:switching|moving on) to\b|forget (?:about )?(?:that|this|it)\b|"
    r"(?:we're |i'm )?done with (?:that|this|it)\b|something (?:completely )?(?:else|different)\b)",
    re.IGNORECASE,
)
# Prompts that continue the same topic.
_GOES_ON = re.compile(
    r"^(?:thanks|thank you|yes|yep|no|nope|ok(?:ay)?|good|great|perfect|nice|right|go on|continue|"
    r"please (?:go on|continue)|try again|again|and|but|also|hm+|wait)\b",
    re.IGNORECASE,
)
_LATIN = re.compile(r"[A-Za-z]{3,}")
_FEWEST = 5  # words of a prompt that can change the topic
BEFORE = 3  # prompts that define the topic
_FAR = 0.08  # cosine below which a prompt is unrelated to those before
_LOST = 0.5  # of a block's parts: more than that are irrelevant to the task

Fate = Literal["archive", "summarise", "discard"]

_NEAR = 0.35  # cosine to the task from which on a part is wholly relevant
_THROUGH = 0.6  # share of its relevance that a part passes on to a similar one
_REFERRED = 0.45  # cosine to a message from which on that refers to a part
_HALF = 30.0  # days: half-life of the recency of a part
_WRAPPED = 60  # characters from which on a line may be wrapped into the next one
_ITEM = re.compile(r"[ \t]{0,3}(?:[-*+]|\d+[.)])[ \t]")
_HEADING = re.compile(r"[ \t]{0,3}(?:#{1,6}[ \t]|[^\n]{1,60}:[ \t]*$)")
_PASSING = re.compile(
    r"\b(?:todo|wip|tmp|temporary|temporarily|for now|right now|currently|in progress|next step|"
    r"today|tomorrow|this morning|just now|still (?:open|running)|scratch|retry later)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:always|never|must(?: not)?|do not|don't|prefers?|decided|decision|important|required|"
    r"name is|name:|works? (?:at|for)|allerg\w+|deadline|password policy|security)\b",
    re.IGNORECASE,
)
_USUAL, _HIGH, _LOW = 5, 8, 3  # importance, 1 to 10


@dataclass(frozen=True)
class BlockPart:
    """A part of a body: the text between two places, with its line end."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class PageCandidate:
    """A part that could be paged out: `worth` and `relevance` are 0 to 1, `importance` 1 to 10."""

    part: BlockPart
    worth: float
    relevance: float
    importance: int
    tokens: int
    fate: Fate


def split_parts(body: str) -> list[BlockPart]:
    """Split a body into its parts; headings, fences and blank lines belong to none."""
    found: list[BlockPart] = []
    start, end = 0, 0
    fenced = False
    previous = ""
    for line in body.splitlines(keepends=True):
        here, end = end, end + len(line)
        text = line.rstrip("\r\n")
        fence = text.lstrip().startswith(("```", "~~~"))
        if fence or fenced:
            fenced = fenced != fence
            previous = ""
            continue
        if not text.strip() or _HEADING.match(text) or text.strip() == "---":
            previous = ""
            continue
        if found and previous and _continues(previous, text):
            start = found[-1].start
            found[-1] = BlockPart(start, end, body[start:end])
        else:
            found.append(BlockPart(here, end, line))
        previous = text
    return found


def _continues(previous: str, text: str) -> bool:
    if _ITEM.match(text):
        return text[:1] in " \t" and not previous[:1].isspace() and bool(_ITEM.match(previous))
    if text[:1] in " \t":
        return True
    return len(previous) >= _WRAPPED and previous.rstrip()[-1:] not in ".!?:;"


def importance(text: str) -> int:
    """Return the importance of a text by its wording, 1 to 10."""
    if _LASTING.search(text):
        return _HIGH
    return _LOW if _PASSING.search(text) else _USUAL


def get_fate(text: str, *, important: int, lengthy: int) -> Fate:
    """Return the fate of a part that is paged out.

    Parts of `important` (1 to 10) or more are archived; those of `lengthy` tokens or more are
    summarised, then archived; passing notes are discarded (the journal keeps them); the rest is
    archived.
    """
    if importance(text) >= important:
        return "archive"
    if _PASSING.search(text):
        return "discard"
    return "summarise" if estimate(text) >= lengthy else "archive"


def relevances(task: str, texts: Sequence[str]) -> list[float]:
    """Return the relevance of each text to a task, 0 to 1; all 1 for no task."""
    if not task.strip() or not texts:
        return [1.0] * len(texts)
    vectors = embed_texts([task, *texts])
    near = (vectors[1:] @ vectors[0]).clip(0)
    like = (vectors[1:] @ vectors[1:].T).clip(0)
    like.flat[:: len(texts) + 1] = 0  # each is like itself
    through = _THROUGH * (like * (near / max(float(near.max()), 1e-9))).max(axis=1)
    # Similarity to other parts alone makes no part more relevant than the most similar one.
    through = through.clip(max=near.max())
    return [float(each) for each in (near.clip(through) / _NEAR).clip(0, 1)]


def candidates(
    body: str,
    task: str,
    recent: Sequence[str],
    ages: Sequence[float],
    *,
    important: int,
    lengthy: int,
    former: str = "",
) -> list[PageCandidate]:
    """Score the parts of a body, the least worth first. `ages` are those of the parts in days.

    A part that is nearer to the `former` task than to the new one is not relevant.
    """
    found = split_parts(body)
    texts = [part.text for part in found]
    near = relevances(task, texts)
    if former:
        far = relevances(former, texts)
        near = [new if new >= old else 0.0 for new, old in zip(near, far, strict=True)]
    referred = _find_references(texts, recent)
    scored = []
    for part, relevance, again, days in zip(found, near, referred, ages, strict=True):
        sounds, recency = importance(part.text), 0.5 ** (days / _HALF)
        worth = 0.5 * relevance + 0.15 * again + 0.02 * sounds + 0.15 * recency
        fate = get_fate(part.text, important=important, lengthy=lengthy)
        scored.append(PageCandidate(part, worth, relevance, sounds, estimate(part.text), fate))
    return sorted(scored, key=lambda each: (each.worth, -each.tokens))


def choose_parts(
    found: Sequence[PageCandidate], least: float, free: int, important: int
) -> list[PageCandidate]:
    """Return the parts to page out: enough to free `free` characters, else those below `least`.

    In the second case parts of `important` (1 to 10) or more stay: a rule holds for every task.
    """
    if not free:
        return [each for each in found if each.relevance < least and each.importance < important]
    out: list[PageCandidate] = []
    for each in found:
        if free <= 0:
            break
        out.append(each)
        free -= len(each.part.text)
    return out


def remove_parts(body: str, gone: Sequence[PageCandidate], texts: dict[int, str]) -> str:
    """Return a body without parts; `texts` maps the start of one to the text that replaces it."""
    out, at = [], 0
    for part in sorted((each.part for each in gone), key=lambda part: part.start):
        out += [body[at : part.start], texts.get(part.start, "")]
        at = part.end
    return "".join([*out, body[at:]])


def _find_references(texts: Sequence[str], recent: Sequence[str]) -> list[bool]:
    if not texts or not recent:
        return [False] * len(texts)
    vectors = embed_texts([*texts, *recent])
    near = vectors[: len(texts)] @ vectors[len(texts) :].T
    return [bool(row.max() >= _REFERRED) for row in near]


def find_trigger(
    prompt: str,
    before: Sequence[str],
    *,
    used: float = 0.0,
    full: float = 0.9,
    relevances: Sequence[float] = (),
    least: float = 0.3,
) -> Trigger:
    """Return the reason to page memory now, "" for none.

    `used` is the filled share of the window, `full` the threshold for it. `before` are the earlier
    prompts, `relevances` those of the block's parts to the task, below `least` irrelevant.
    """
    if used >= full:
        return "window"
    if before and _SAID.search(prompt):
        return "task"
    if len(before) >= BEFORE and is_telling(prompt) and _is_far(prompt, before):
        return "topic"
    lost = [each for each in relevances if each < least]
    if len(relevances) > 1 and len(lost) > _LOST * len(relevances):
        return "relevance"
    return ""


def strip_trigger(prompt: str) -> str:
    """Return a prompt without the words that only announce another task: "new task: …"."""
    return _SAID.sub("", prompt).lstrip(" \t\n:,.;!-\u2013\u2014")


def is_telling(prompt: str) -> bool:
    """Tell whether a prompt names a topic, and does not merely continue."""
    return len(_LATIN.findall(prompt)) >= _FEWEST and not _GOES_ON.match(prompt)


def _is_far(prompt: str, before: Sequence[str]) -> bool:
    vectors = embed_texts([prompt, *before[-BEFORE:]])
    if not vectors[0].any():
        return False
    return float((vectors[1:] @ vectors[0]).max()) < _FAR


def name_spare_parts(place: Place, block: Block) -> list[str]:
    """Return excerpts of the least valuable parts of a block that is nearly full."""
    found = select_parts(place, block, "", _FREED)
    if len(found) == len(split_parts(block.body)):  # naming all parts is no help
        return []
    return [excerpt(" ".join(each.part.text.split()), _SHOWN) for each in found[:_MOST]]


def select_parts(
    place: Place, block: Block, task: str, free: float, former: str = ""
) -> list[PageCandidate]:
    """Return the parts to page out for a task (the last prompts, if ""), or to free a share."""
    settings = config.load(place)
    recent = [message.text[:_LONGEST] for message in list_prompts(place)[-_RECENT:]]
    important = settings.number("archival.auto_archive_importance")
    found = candidates(
        block.body,
        task or "\n".join(recent[-_TASK:]),
        recent,
        _compute_ages(place, block),
        important=important,
        lengthy=settings.number("paging.summarize_threshold"),
        former=former,
    )
    least = settings.get_share("paging.min_relevance_to_keep")
    freed = max(1, int(free * block.limit)) if free else 0
    return choose_parts(found, least, freed, important)


def list_prompts(place: Place) -> list[Message]:
    """Return the user's messages of this session that are in recall."""
    if not place.session:
        return []
    paths = recall.sources(place.home)
    mine = [path for path in paths if place.session in path.replace("\\", "/").rpartition("/")[2]]
    return [m for path in mine for m in recall.messages(path) if m.role == "user"]


def _compute_ages(place: Place, block: Block) -> list[float]:
    """Return the age of each part in days, by the journal; 0 if it is unknown."""
    now = clock.moment()
    entries = journal_query.list_block_entries(place, block.tier, block.label)
    ages = []
    for part in split_parts(block.body):
        text = part.text.strip()
        since = next((e.at for e in entries if e.after is not None and text in e.after), "")
        moment = formats.parse(since)
        ages.append(max(0.0, (now - moment).total_seconds() / 86400) if moment else 0.0)
    return ages
