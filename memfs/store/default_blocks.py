"""The blocks that a store or a session begins with. Hot path."""

from memfs.core.settings import Settings
from memfs.store import resources

_LIMIT, _END = "limit: 5000\n", "---\n"  # of the templates


def render(settings: Settings, label: str, managed: str = "") -> str:
    """Return the text of a default block, with the `managed` lines in its front matter.

    Its limits and its content are those of `blocks.<label>`, else those of the template.
    """
    text = resources.read_text("templates", "blocks", f"{label}.md")
    head, _, body = text.removeprefix(_END).partition(_END)
    cap = settings.get_token_cap(label)
    limits = f"limit: {settings.get_limit(label)}\n" + (f"tokens: {cap}\n" if cap else "")
    content = settings.get_default_content(label)
    body = f"{content}\n" if content else body
    return f"{_END}{head.replace(_LIMIT, limits)}{managed}{_END}{body}"
