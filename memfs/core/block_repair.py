"""Mend the text of a block file that was broken by hand. Nothing is taken out but double keys.

Each step is only taken where its result can be read, and gives the same values as before.
"""

from __future__ import annotations

from collections.abc import Iterator

from memfs.core import (
    encodings,
    frontmatter,
    frontmatter_fences,
    merge,
    yaml_edit,
    yaml_fast,
    yaml_lenient,
)

ENCODING, CONFLICT, FENCE, HEAD = "encoding", "conflict", "fence", "head"
_ROUNDS = 4  # one step may uncover a problem for another


def mend(raw: str) -> tuple[str, dict[str, str]]:
    """Return the mended text, and the changes by kind; no changes if there is nothing to mend."""
    done: dict[str, str] = {}
    text = raw
    for _ in range(_ROUNDS):
        before = text
        for step in (_convert_encoding, _resolve_conflict, _add_fence, _mend_head):
            made, kind, what = step(text)
            if made != text:
                done.setdefault(kind, what)
                text = made
        if text == before:
            break
    return text, done


def front_matter(text: str) -> str:
    """Return the problem of a text's front matter, with its line; "" if there is none."""
    head, _ = frontmatter.split(text)
    inner = frontmatter.strip_fences(head)
    if len(inner) <= frontmatter.MOST and yaml_fast.read(inner) is not None:
        return ""
    return yaml_edit.read("\n" + inner)[1]  # one line more: line numbers are those of the file


def _convert_encoding(text: str) -> tuple[str, str, str]:
    name = encodings.codec(text)
    made = encodings.decode(text, name) if name else text
    return made, ENCODING, f"{name[:6].upper()} made UTF-8"


def _resolve_conflict(text: str) -> tuple[str, str, str]:
    return merge.resolve(text) or text, CONFLICT, "conflicts resolved"


def _add_fence(text: str) -> tuple[str, str, str]:
    found = frontmatter_fences.missing(text)
    if found is None:
        return text, FENCE, ""
    made = frontmatter_fences.with_missing(text)
    full = frontmatter.has_fences(frontmatter.split(made)[0])
    return made if full else text, FENCE, f"the {found[0]} line --- of the front matter put in"


def _mend_head(text: str) -> tuple[str, str, str]:
    """Mend tabs and double keys, if that makes the front matter readable and changes no value."""
    head, body = frontmatter.split(text)
    inner = frontmatter.strip_fences(head)
    if not inner or len(inner) > frontmatter.MOST or not front_matter(text):
        return text, HEAD, ""
    start = head.index("\n") + 1
    known = _fold_values(yaml_lenient.read(inner))
    for made, what in _generate_candidates(inner):
        new = head[:start] + made + head[start + len(inner) :] + body
        if front_matter(new) or frontmatter.split(new)[1] != body:
            continue
        now = _fold_values(_read(made))
        if all(key in now and now[key] == value for key, value in known.items()):
            return new, HEAD, what
    return text, HEAD, ""


def _generate_candidates(inner: str) -> Iterator[tuple[str, str]]:
    """Yield (front matter that may be readable, description), the smallest change first."""
    for indent in ("  ", ""):
        spaced = _replace_tabs(inner, indent)
        tabs = "tabs in the front matter made spaces" if spaced != inner else ""
        yield spaced, tabs
        single, dropped = _drop_double_keys(spaced)
        doubles = f"of double keys one kept ({', '.join(dropped)})" if dropped else ""
        yield single, "; ".join(part for part in (tabs, doubles) if part)


def _read(inner: str) -> dict[str, object]:
    found = yaml_fast.read(inner)
    return found if found is not None else yaml_edit.read(inner)[0]


def _fold_values(meta: dict[str, object]) -> dict[str, object]:
    return {k: " ".join(v.split()) if isinstance(v, str) else v for k, v in meta.items()}


def _replace_tabs(inner: str, indent: str) -> str:
    """Make spaces of the tabs behind keys and list marks, and `indent` of one before them."""
    lines = []
    for line in inner.split("\n"):
        end = "\r" if line.endswith("\r") else ""
        bare = line.removesuffix("\r").rstrip("\t ") if "\t" in line else line.removesuffix("\r")
        rest = bare.lstrip("\t ")
        lead = bare[: len(bare) - len(rest)].replace("\t", indent)
        name, colon, value = rest.partition(":")
        if colon and value[:1] in (" ", "\t"):
            rest = f"{name.rstrip()}: {value.lstrip()}" if "\t" in rest else rest
        elif rest.startswith("-\t"):
            rest = "- " + rest[1:].lstrip()
        lines.append(lead + rest + end)
    return "\n".join(lines)


def _drop_double_keys(inner: str) -> tuple[str, list[str]]:
    """Keep of each key that occurs twice the last; of `read_only` the one that is true."""
    parts: list[tuple[str, list[str]]] = []
    for line in inner.split("\n"):
        inside = line[:1] in (" ", "\t", "-", "]", "}") and parts and parts[-1][0]
        if inside:
            parts[-1][1].append(line)
        else:
            name, colon, _ = line.partition(":")
            comment = not colon or line.startswith("#")
            parts.append(("" if comment else name.strip(" \"'"), [line]))
    last = {name: at for at, (name, _) in enumerate(parts)}
    for at, (name, lines) in enumerate(parts):
        if name == "read_only" and yaml_lenient.read("\n".join(lines)).get(name) is True:
            last[name] = at
    kept = [lines for at, (name, lines) in enumerate(parts) if not name or last[name] == at]
    gone = {name for at, (name, _) in enumerate(parts) if name and last[name] != at}
    return "\n".join(line for lines in kept for line in lines), sorted(gone)
