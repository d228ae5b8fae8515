"""Codex. Its own configuration stays free: what the harness sets, it says on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from tests.hosts.installed import CODEX
from tests.hosts.program import Program


class CodexCli(Program):
    """Codex, with `codex exec`."""

    def program(self) -> list[str]:
        return [str(CODEX.require())]

    def headless(self, prompt: str, args: Sequence[str]) -> list[str]:
        provider = (
            f'{{name="scripted", base_url="{self.model_url}/v1", env_key="SCRIPTED_KEY", '
            'wire_api="responses", supports_websockets=false, request_max_retries=0, '
            "stream_max_retries=0}"
        )
        settings = {
            "model": '"gpt-5.4"',
            "model_provider": '"scripted"',
            "model_providers.scripted": provider,
            "check_for_update_on_startup": "false",
            "analytics.enabled": "false",
            "feedback.enabled": "false",
            "features.plugins": "false",  # else it looks for OpenAI's plugins on GitHub
        }
        given = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        return ["exec", "-s", "read-only", *given, *args, prompt]

    def variables(self) -> dict[str, str]:
        return {"SCRIPTED_KEY": "dummy"}

    def sessions(self) -> list[str]:
        found = (self.home / ".codex" / "sessions").glob("*/*/*/rollout-*.jsonl")
        return [path.stem[-36:] for path in sorted(found, key=lambda path: path.name)]
