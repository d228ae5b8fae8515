"""Heavy work waits for power and room, but not for ever."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from memfs.service import throttle

NEVER = float("inf")


def supply(root: Path, name: str, **said: str) -> None:
    (root / name).mkdir()
    for what, value in said.items():
        (root / name / what).write_text(f"{value}\n")


def on_battery(root: Path) -> bool:
    return throttle.on_battery(f"{root}/*")


def test_a_battery_that_discharges_is_one(tmp_path: Path) -> None:
    assert not on_battery(tmp_path)
    supply(tmp_path, "BAT0", type="Battery", status="Discharging")
    assert on_battery(tmp_path)


def test_a_plug_that_is_in_is_power_whatever_the_battery_does(tmp_path: Path) -> None:
    supply(tmp_path, "BAT0", type="Battery", status="Discharging")
    supply(tmp_path, "AC", type="Mains", online="0")
    assert on_battery(tmp_path)
    (tmp_path / "AC/online").write_text("1\n")
    assert not on_battery(tmp_path)


@pytest.mark.parametrize(
    "said",
    [
        {"type": "Battery", "status": "Full"},
        {"type": "Battery", "status": "Charging"},
        {"type": "Battery", "status": "Discharging", "scope": "Device"},
        {"type": "Battery"},
        {"type": "UPS", "status": "Discharging"},
        {},
    ],
)
def test_a_full_one_that_of_a_mouse_and_what_says_nothing_are_none(
    tmp_path: Path, said: dict[str, str]
) -> None:
    supply(tmp_path, "BAT0", **said)
    assert not on_battery(tmp_path)


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMFS_SERVICE_PAUSE", "auto")
    monkeypatch.setattr(os, "getloadavg", lambda: (1000.0, 0.0, 0.0))


def test_it_rests_as_long_as_there_is_a_reason_and_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMFS_SERVICE_PAUSE", "auto")
    monkeypatch.setattr(throttle, "SUPPLIES", f"{tmp_path}/*")
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    told: list[str] = []
    throttle.wait_for_room(told.append, NEVER)
    assert not told
    supply(tmp_path, "BAT0", type="Battery", status="Discharging")

    def plug_in(why: str) -> None:
        told.append(why)
        if len(told) == 3:
            (tmp_path / "BAT0/status").write_text("Charging\n")

    throttle.wait_for_room(plug_in, NEVER)
    assert told == ["battery"] * 3
    monkeypatch.setattr(os, "getloadavg", lambda: (1000.0, 0.0, 0.0))
    now = [100.0]
    monkeypatch.setattr(throttle, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def pause(why: str) -> None:
        told.append(why)
        now[0] += 2.0

    throttle.wait_for_room(pause, 105.0)
    assert told[3:] == ["load"] * 3
    throttle.wait_for_room(gone, 105.0)  # it has waited enough


def gone(why: str) -> None:
    raise BrokenPipeError(why)


@pytest.mark.usefixtures("busy")
def test_resting_ends_when_nobody_hears_it() -> None:
    with pytest.raises(BrokenPipeError):
        throttle.wait_for_room(gone, NEVER)


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("said", ["off", "false"])  # as a word, and as YAML reads it
def test_whoever_turns_it_off_has_no_job_wait(
    home: Path, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert throttle.find_reason() == "load"
    monkeypatch.delenv("MEMFS_SERVICE_PAUSE")
    assert throttle.find_reason() == "load"
    config = home / ".agent-memory/config.yaml"
    config.parent.mkdir()
    config.write_text(f"memfs: 1\nservice:\n  pause: {said}\n")
    assert throttle.find_reason() == ""
