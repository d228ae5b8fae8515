"""What the tests of the core share: blocks from texts, and texts as people (mis)write them."""

from hypothesis import strategies as st

from memfs.core import brief_layout, yaml_edit
from memfs.core.block import Block
from memfs.core.brief_layout import Names

NAMES = Names("memfs show LABEL", "Memory tools: memfs edit LABEL --append TEXT")

KEYS = [
    *("description", "limit", "version", "a", "x-y", "_z", "a.b", "yes", "no", "on", "true"),
    *("null", "1", "1e3", "0x1", "012", ".5", "12:30", "2024-01-01", '"limit"', "'limit'", "a b"),
    *("é", "=", "<<", "?", "-", "~", "- a", "...", "---", "n", "3rd", "+1", "٣", "limit "),
]
VALUES = [
    *("", "a", "foo bar", "5000", "-1", "+1", "0", "-0", "1.5", "0.0", "1e3", "1E5", "0x1F"),
    *("0o17", "012", "1_000", ".5", "5.", "1.2.3", ".inf", "-.inf", ".nan", "yes", "no", "on"),
    *("off", "y", "n", "~", "null", "NULL", "nULL", "true", "True", "tRUE", "2024-01-01"),
    *("2024-1-1 1:00:00", "2024-01-01T10:00:00Z", "2024-01-01 10:00:00", "2024-13-99", "12:30"),
    *("12:30:00", "190:20:30", "1234-67-8:9", "3rd party", "007 James", "10e x", "1 000", "٣"),
    *("٣.٣", "a # b", "a #b", "a#b", "# c", "#c", "'a'", '"a"', '"a # b"', "'it''s'", "'a'#b"),
    *('"a" #c', '"a\\n"', "''", '""', '"', "'a' b", '"a" "b"', "\"a'", '" a "', "[a, b]", "[a,b]"),
    *("[]", "[ ]", "[a, ]", "[1, true, ~]", "[a:b]", "[a: b]", '["a", "b c"]', '["a, b", c]'),
    *("['a', \"b']", '["]"]', "[a # b]", "[a] # c", "[a]b", "[[a], b]", "[-1]", "[-]", "[=]"),
    *("[012]", "[12:30]", "[a?b]", "[?a]", "{}", "{a: b}", "|", ">", "|\n  foo\n\n  # b\n"),
    *(">-\n   a\n   b\n\n", "|+\n  a\n\n\n", '"a\n  b"', "'x\n\n  y'", "\n  long\n  text"),
    *("\n- x\n- y", "\n  - x # c\n  # d", "# c\n  - x", "\n  k: v\n  m: 1", "&x a", "*x", "!t a"),
    *("!!str 5", "!!bool x", "!!int x", "%a", "@a", "`a", "a: b", "a:", "a:b", ":a"),
    *("http://x.y/z", "- a", "-", "-a", "--", "...", "?", "? a", "=", "<<", ",a", "a, b", "]"),
    *("a]", "{", "}", "a {b}", "a\\b", "a 'b'", "a\tb", "a\t", "\t", "a\xa0", "\xa0a", "\u3000"),
    *("a\u2028b", "a\x85b", "a\x0bb", "a\x1cb", "\ufeff", "a\x7f", "a\x00", "a\u200d", "😀"),
    *("a\udce9", "9" * 30, "9" * 5000, "." * 5, "名前", "a | b", "a > b", "a &b", "a *b", "a !b"),
    *("a -b", "a ?b"),
]
_ENDS = ["\n"] * 6 + ["\r\n", "\n\n", "\r", " \n", "\t\n", " # c\n", " #\n", "\n# c\n", "\n  # c\n"]
_ODD_ENDS = ["\n---\n", "\n...\n", "", "\u2028", "\x0b", "\x85", "#\n", " \t# c\n"]


UNPINNED = "---\npinned: false\n---\n"


def block(label: str, raw: str, tier: str = "project") -> Block:
    return Block(tier, label, f"{label}.md", raw, yaml_edit.read)


def brief(*blocks: Block, guidance: str = "", budget: int = brief_layout.BUDGET) -> str:
    return brief_layout.brief(list(blocks), guidance, NAMES, budget)


@st.composite
def yaml_texts(draw: st.DrawFn) -> str:
    """Texts that are nearly YAML: keys, list items, scalars, comments, odd white space."""
    text = ""
    for _ in range(draw(st.integers(1, 5))):
        indent = draw(st.sampled_from(["", "", "", "", " ", "  ", "    ", "\t"]))
        value = draw(st.sampled_from(VALUES))
        kind = draw(st.integers(0, 9))
        if kind < 7:
            key = draw(st.sampled_from(KEYS[:9] if kind < 5 else KEYS))
            colon = draw(st.sampled_from([": "] * 5 + [":", ":  ", " : ", ":\t"]))
            line = key + colon + value
        else:
            line = draw(st.sampled_from(["- ", "-  ", "-", ""])) + value
        text += indent + line + draw(st.sampled_from(_ENDS * 4 + _ODD_ENDS))
    return text


def alike(one: object, other: object) -> bool:
    """Equality that tells 1 from True and 1.0, keeps the order of keys, and takes nan for nan."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == other or (one != one and other != other)  # noqa: PLR0124
