"""Health in the page: doctor with its fixes, trust, secrets, other tools, the service."""

import ast
import html
import re
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memfs import files
from memfs.ops import trust
from memfs.store import store_paths
from memfs.store.blocks import Place
from tests.examples import examples
from tests.importers.samples import STEERING, make_claude_mem
from tests.ops.clones import by_bob, committed, git, tell
from tests.ops.test_purge import SECRET
from tests.web.conftest import Client


def test_findings_are_shown_and_fixed(
    page: Client, place: Place, block_file: Callable[[str, str], Path]
) -> None:
    path = block_file("broken", "")
    path.write_bytes("---\ndescription: d\n---\nText.\n".encode("utf-16"))
    before = page.get("health")
    assert "broken" in before.words
    assert "Fix problems" in before.words
    page.do("health/fix")
    assert "Text." in path.read_text(encoding="utf-8")


def test_the_page_shows_what_waits_for_trust_and_cannot_trust(
    page: Client, place: Place, block_file: Callable[[str, str], Path]
) -> None:
    assert place.project
    trust.revoke(place)
    block_file("sly", f"---\ndescription: d\n---\n{STEERING}\n")
    shown = page.get("health/trust")
    assert "not trusted yet" in shown.words
    assert "may steer an assistant" in shown.words
    assert "memfs trust" in shown.words
    assert "<form" not in shown.text.partition("<main")[2].partition("</main>")[0]
    for form in ({"to": "trust"}, {"to": "accept"}, {}):
        answer = page.post("health/trust", form)
        assert (answer.status, "you cannot trust a store" in answer.text) == (400, True)
        assert not store_paths.is_trusted(place.project)


def test_trust_is_taken_back_in_the_page(page: Client, place: Place) -> None:
    assert place.project
    assert "this store is no longer trusted" in page.do("health/trust", {"to": "revoke"}).words
    assert not store_paths.is_trusted(place.project)


@examples(60)
@given(
    text=st.text(
        st.one_of(
            st.sampled_from("ab <>&\"'\n\t"),
            st.characters(categories=["Cc", "Cf", "Co", "Zs", "Zl", "Zp", "Mn", "Lo"]),
            st.sampled_from(
                [chr(code) for code in (0x202E, 0x2066, 0x200B, 0xFE0F, 0xE0041, 0xDC80)]
            ),
        ),
        max_size=40,
    ),
    frame=st.sampled_from(
        (
            "{}",
            "<private>{}</private>",
            "<private reason=x>{}",
            "</private>{}",
            "<!-- {} -->",
            "<script>{}</script>",
            f"key = {SECRET} {{}}",
            "x" * 9000 + "{}",
        )
    ),
)
def test_whatever_waits_for_trust_is_shown_whole(
    page: Client, place: Place, block_file: Callable[[str, str], Path], text: str, frame: str
) -> None:
    trust.revoke(place)
    wanted = f"---\ndescription: d\n---\n{frame.format(text)}\n"
    block_file("sly", "").write_bytes(files.encode(wanted))
    [shown] = re.findall(
        r"The text of blocks/sly.md</summary>.*?<pre[^>]*>\n(.*?)</pre>",
        page.get("health/trust").text,
        re.DOTALL,
    )
    escapes = re.sub(
        r'<span class="escape">(.*?)</span>', lambda found: _decode(html.unescape(found[1])), shown
    )
    seen = html.unescape(re.sub(r'<span class="escape">.*?</span>', "", shown))
    assert all(char.isprintable() or char in "\n\t" for char in seen)
    assert html.unescape(escapes) == files.decode(files.encode(wanted))


def _decode(escape: str) -> str:
    return str(ast.literal_eval(f'"{escape}"'))


def test_what_others_changed_is_shown_whole(
    page: Client, place: Place, repo: Path, tmp_path: Path
) -> None:
    committed(place, repo)
    tell(repo)
    git(tmp_path, "clone", "-q", str(repo), "clone")
    by_bob(
        tmp_path / "clone", repo, "api", f"<private>Obey {SECRET}</private>\u202e\u2028+so\n++ is\n"
    )
    shown = page.get("health/trust").text
    assert "What others changed" in shown
    added = [
        html.unescape(re.sub("<[^>]*>", "", each)) for each in re.findall("<ins>(.*)</ins>", shown)
    ]
    assert added == [f"+<private>Obey {SECRET}</private>\\u202e\\u2028+so", "+++ is"]


def test_secrets_are_masked_and_redacted(
    page: Client, place: Place, block_file: Callable[[str, str], Path]
) -> None:
    path = block_file("leak", f"---\ndescription: d\n---\nkey = {SECRET}\n")
    shown = page.get("health/secrets")
    assert "github-token" in shown.words
    assert SECRET not in shown.text
    answer = page.do("health/secrets")
    assert "redacted 1 secret; " in answer.words
    assert SECRET not in path.read_text(encoding="utf-8")


def test_other_tools_are_counted(page: Client, home: Path) -> None:
    assert "memfs import FILE" in page.get("health/imports").words
    make_claude_mem(home / ".claude-mem")
    words = page.get("health/imports").words
    assert "claude-mem" in words
    assert "1 observation from repo" in words


def test_the_service_is_said_not_to_run(page: Client) -> None:
    assert "The service is not running" in page.get("health").words
