"""A question's words, phrases and times: "last week", "in May", "3 days ago", "on 2026-05-03"."""

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from memfs.search import identifiers

_MOST = 20_000  # characters that are parsed
_MOST_PARTS = 24
_MOST_PHRASES = 8
_QUOTED = re.compile(r'"([^"\n]{3,300})"|`([^`\n]{3,300})`|“([^”\n]{3,300})”')

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = tuple(
    "january february march april may june july august september october november december".split()
)
_NUMBERS = "one two three four five six seven eight nine ten".split()
_COUNTS = {"a": 1, "an": 1, "couple of": 2, "few": 3}
_COUNTS |= {name: number for number, name in enumerate(_NUMBERS, 1)}
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}
_MONTH = "|".join([*_MONTHS, *(name[:3] for name in _MONTHS)])
_COUNT = r"\d{1,3}|" + "|".join(_COUNTS)
_UNIT = "|".join(_UNITS)
# Every period contains one of these, in lower case.
_HINT = re.compile(rf"\d|{_UNIT}|night|morning|afternoon|{_MONTH}")
_PREPOSITION = r"(?:(?P<how>on|in|at|from|during|of|since|after|before|until) )?"
_LONG_AGO = date(1970, 1, 2)

Span = tuple[date, date]
_Resolve = Callable[[re.Match[str], date], Span]


class Period(NamedTuple):
    """A period named in a question (first and last second), and the question without it.

    A date that texts may contain, too, stays in: "on 3 May", but not "last week".
    """

    since: int
    until: int
    rest: str


def read(question: str, now: datetime | None) -> Period | None:
    """Return the period that a question names, or None.

    `now` is the local time, None: that of the clock. Days are whole local days; a month or a
    weekday is the last one.
    """
    if not _HINT.search(question.lower()):  # twice as fast as a pattern that ignores case
        return None
    now = now or datetime.now().astimezone()
    for pattern, resolve in _TABLE:
        match = re.search(pattern, question, re.IGNORECASE)  # compiled once, and rarely needed
        if match:
            try:
                first, last = _apply_preposition(match, resolve(match, now.date()), now.date())
                since = datetime.combine(first, time()).astimezone()
                until = datetime.combine(last + timedelta(days=1), time()).astimezone()
            except (ValueError, OverflowError, OSError):
                continue
            rest = question
            if resolve not in _WRITTEN:
                rest = f"{question[: match.start()]} {question[match.end() :]}"
            return Period(int(since.timestamp()), int(until.timestamp()) - 1, rest)
    return None


def _apply_preposition(match: re.Match[str], span: Span, today: date) -> Span:
    """Return the span with its preposition applied: "since 3 May" lasts until today."""
    first, last = span
    match (match.groupdict().get("how") or "").lower():
        case "since":
            return first, max(last, today)
        case "after":
            return last + timedelta(days=1), max(last + timedelta(days=1), today)
        case "before":
            return _LONG_AGO, first - timedelta(days=1)
        case "until":
            return _LONG_AGO, last
    return span


def _resolve_iso_date(match: re.Match[str], _today: date) -> Span:
    return (date.fromisoformat(match["day"]),) * 2


def _resolve_day_of_month(match: re.Match[str], today: date) -> Span:
    month = _parse_month(match["month"])
    year = int(match["year"]) if match["year"] else today.year
    day = date(year, month, int(match["number"]))
    if not match["year"] and day > today:
        day = date(year - 1, month, int(match["number"]))
    return day, day


def _resolve_month(match: re.Match[str], today: date) -> Span:
    month = _parse_month(match["month"])
    year = int(match["year"]) if match["year"] else today.year - (month > today.month)
    since = match.group().lower().startswith("since")
    end = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    return date(year, month, 1), today if since else end


def _resolve_ago(match: re.Match[str], today: date) -> Span:
    unit = _UNITS[match["unit"]]
    middle = today - timedelta(days=unit * _parse_count(match["count"]))
    around = timedelta(days=unit // 2)
    return middle - around, min(today, middle + around)


def _resolve_past(match: re.Match[str], today: date) -> Span:
    count = _parse_count(match["count"]) if match["count"] else 1
    return today - timedelta(days=_UNITS[match["unit"]] * count), today


def _resolve_last_unit(match: re.Match[str], today: date) -> Span:
    end = _get_start(match["unit"], today) - timedelta(days=1)
    return _get_start(match["unit"], end), end


def _resolve_this_unit(match: re.Match[str], today: date) -> Span:
    return _get_start(match["unit"], today), today


def _get_start(unit: str, day: date) -> date:
    """Return the first day of the week, month or year of a day."""
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if unit == "month" else day.replace(month=1, day=1)


def _resolve_word(match: re.Match[str], today: date) -> Span:
    word = match["word"].lower()
    back = {"yesterday": 1, "last night": 1, "the day before yesterday": 2}.get(word, 0)
    return (today - timedelta(days=back),) * 2


def _resolve_weekday(match: re.Match[str], today: date) -> Span:
    back = (today.weekday() - _DAYS.index(match["name"].lower())) % 7 or 7
    return (today - timedelta(days=back),) * 2


def _resolve_year(match: re.Match[str], _today: date) -> Span:
    year = int(match["year"])
    return date(year, 1, 1), date(year, 12, 31)


_WRITTEN = (_resolve_iso_date, _resolve_day_of_month, _resolve_month, _resolve_year)


def _parse_month(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS, 1) if month.startswith(name.lower()[:3]))


def _parse_count(text: str) -> int:
    return int(text) if text.isdigit() else _COUNTS[text.lower()]


def _form_period(pattern: str, resolve: _Resolve) -> tuple[str, _Resolve]:
    return rf"\b{_PREPOSITION}{pattern}\b", resolve


_TABLE = (
    _form_period(r"(?P<day>\d{4}-\d\d-\d\d)", _resolve_iso_date),
    _form_period(
        rf"(?:the )?(?P<number>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month>{_MONTH})\b"
        r"(?:,? (?P<year>\d{4}))?",
        _resolve_day_of_month,
    ),
    _form_period(
        rf"(?P<month>{_MONTH}) (?:the )?(?P<number>\d{{1,2}})(?:st|nd|rd|th)?\b"
        r"(?:,? (?P<year>\d{4}))?",
        _resolve_day_of_month,
    ),
    _form_period(r"(?P<word>the day before yesterday)", _resolve_word),
    _form_period(rf"(?P<count>{_COUNT}) (?P<unit>{_UNIT})s? ago", _resolve_ago),
    _form_period(rf"(?:the )?(?:last|past) (?P<count>{_COUNT}) (?P<unit>{_UNIT})s?", _resolve_past),
    _form_period(r"last (?P<unit>week|month|year)", _resolve_last_unit),
    _form_period(rf"(?:the )?past (?P<count>{_COUNT})?(?P<unit>{_UNIT})", _resolve_past),
    _form_period(r"this (?P<unit>week|month|year)", _resolve_this_unit),
    _form_period(
        r"(?P<word>yesterday|today|last night|this morning|this afternoon)", _resolve_word
    ),
    _form_period(rf"(?:last )?(?P<name>{'|'.join(_DAYS)})", _resolve_weekday),
    (
        rf"\b(?:in|during|since|from|last|of) (?P<month>{_MONTH})\b(?:,? (?P<year>\d{{4}}))?",
        _resolve_month,
    ),
    (r"\b(?:in|during|from) (?P<year>(?:19|20)\d\d)\b", _resolve_year),
)


class Question(NamedTuple):
    """A parsed question. `text` is the text to search for.

    `parts` are its word parts (see `identifiers`), `names` the identifiers as written.
    """

    text: str
    phrases: tuple[str, ...]
    names: tuple[str, ...]
    parts: tuple[str, ...]
    period: Period | None

    @property
    def pairs(self) -> list[str]:
        """The pairs of characters, of scripts without spaces between words."""
        return [part for part in self.parts if not part.isascii()]


def parse_question(text: str, now: datetime | None) -> Question:
    """Parse a question; `now` is the local time for "last week" (None: that of the clock)."""
    head = text[:_MOST]
    period = read(head, now)
    phrases = ["".join(groups) for groups in _QUOTED.findall(head)]
    parts = dict.fromkeys(identifiers.extract_parts(head))
    rest = period.rest + text[_MOST:] if period else text
    return Question(
        rest if any(map(str.isalnum, rest)) else text,  # unless nothing else is left
        tuple(phrases)[:_MOST_PHRASES],
        tuple(identifiers.names(head)),
        tuple(parts)[:_MOST_PARTS],
        period,
    )
