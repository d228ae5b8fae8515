"""Health in the page: doctor with its fixes, trust, secrets, other tools, the service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memfs.ops import trust
from memfs.store import store_paths
from memfs.store.blocks import Place
from tests.ingest.importers.samples import STEERING, make_claude_mem
from tests.ops.test_purge import SECRET
from tests.web.conftest import Client


def test_findings_are_shown_and_fixed(
    page: Client, place: Place, block_file: Callable[[str, str], Path]
) -> None:
    path = block_file("broken", "")
    path.write_bytes("---\ndescription: d\n---\nText.\n".encode("utf-16"))
    before = page.get("health")
    assert "broken" in before.words
    assert "Fix what can be fixed" in before.words
    page.do("health/fix")
    assert "Text." in path.read_text(encoding="utf-8")


def test_a_store_is_trusted_as_it_was_shown(
    page: Client, place: Place, block_file: Callable[[str, str], Path]
) -> None:
    assert place.project
    trust.revoke(place)
    block_file("sly", f"---\ndescription: d\n---\n{STEERING}\n")
    shown = page.get("health/trust")
    assert "held back" in shown.words
    assert "may steer an assistant" in shown.words
    block_file("later", "---\ndescription: d\n---\nAdded after the look.\n")
    answer = page.do("health/trust", {"to": "trust"})
    assert "changed while you looked" in answer.words
    assert not store_paths.is_trusted(place.project)
    page.get("health/trust")
    assert "is trusted" in page.do("health/trust", {"to": "trust"}).words
    assert store_paths.is_trusted(place.project)
    assert "nothing of this store" in page.do("health/trust", {"to": "revoke"}).words
    assert not store_paths.is_trusted(place.project)


def test_trust_without_a_look_is_refused(page: Client, place: Place) -> None:
    assert place.project
    trust.revoke(place)
    assert "look at it first" in page.do("health/trust", {"to": "trust"}).words
    assert not store_paths.is_trusted(place.project)


def test_secrets_are_masked_and_redacted(
    page: Client, place: Place, block_file: Callable[[str, str], Path]
) -> None:
    path = block_file("leak", f"---\ndescription: d\n---\nkey = {SECRET}\n")
    shown = page.get("health/secrets")
    assert "github-token" in shown.words
    assert SECRET not in shown.text
    answer = page.do("health/secrets")
    assert "1 secrets are redacted" in answer.words or "are redacted" in answer.words
    assert SECRET not in path.read_text(encoding="utf-8")


def test_other_tools_are_counted(page: Client, home: Path) -> None:
    assert "memfs import FILE" in page.get("health/imports").words
    make_claude_mem(home / ".claude-mem")
    words = page.get("health/imports").words
    assert "claude-mem" in words
    assert "1 observation of repo" in words


def test_the_service_is_said_not_to_run(page: Client) -> None:
    assert "It does not run" in page.get("health").words
