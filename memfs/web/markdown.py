"""Messages as HTML: their Markdown rendered, and nothing of them that a browser would run or fetch.

HTML in a message is text, pictures are links, and links lead to addresses of the web or of mail
alone. Headings are no headings of the page.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

_LONGEST = 50_000  # characters; a longer text is shown as it is
_SCHEMES = ("http", "https", "mailto")
_LINK = {"rel": "noopener noreferrer nofollow", "target": "_blank"}
_ALIGNED = ("th_open", "td_open")  # by a style, which the page refuses


def render_markdown(text: str, mark: Callable[[str], Markup]) -> Markup:
    """Return a message as HTML; `mark` makes HTML of its plain texts, as to mark words in them."""
    if len(text) > _LONGEST:
        return Markup('<div class="said">{}</div>').format(mark(text))
    return Markup(_make_parser().render(text, {"mark": mark}))  # noqa: S704 - escaped by its parser


@functools.cache
def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.validateLink = _is_allowed  # type: ignore[method-assign]
    rules: dict[str, Callable[..., str]] = {
        "text": _render_text,
        "code_inline": _render_code,
        "image": _render_image,
        "heading_open": _render_heading,
        "heading_close": lambda *_: "</strong></p>\n",
        "link_open": _render_link,
        **dict.fromkeys(_ALIGNED, _render_bare),
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


def _is_allowed(url: str) -> bool:
    try:
        return urlsplit(url.strip()).scheme in _SCHEMES
    except ValueError:
        return False


def _render_text(_renderer: Any, tokens: Sequence[Token], at: int, _: Any, env: Any) -> str:
    return str(env["mark"](tokens[at].content))


def _render_code(_renderer: Any, tokens: Sequence[Token], at: int, _: Any, env: Any) -> str:
    return f"<code>{env['mark'](tokens[at].content)}</code>"


def _render_image(_renderer: Any, tokens: Sequence[Token], at: int, _: Any, env: Any) -> str:
    """Return a link to a picture: nothing is fetched before somebody follows it."""
    name = tokens[at].content or "picture"
    source = escape(str(tokens[at].attrs.get("src", "")))
    return f'<a href="{source}" rel="{_LINK["rel"]}" target="_blank">{env["mark"](name)}</a>'


def _render_heading(_renderer: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    return f'<p class="heading {tokens[at].tag}"><strong>'


def _render_link(renderer: Any, tokens: Sequence[Token], at: int, options: Any, _: Any) -> str:
    tokens[at].attrs.update(_LINK)
    return str(renderer.renderToken(tokens, at, options, {}))


def _render_bare(renderer: Any, tokens: Sequence[Token], at: int, options: Any, _: Any) -> str:
    tokens[at].attrs.pop("style", None)
    return str(renderer.renderToken(tokens, at, options, {}))
