"""Heavy work waits while the machine is on battery or has other things to do."""

from __future__ import annotations

import glob
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from memfs.store import config, store_paths
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 600.0  # seconds that a job waits at most: in the end it is done
SUPPLIES = "/sys/class/power_supply/*"


def wait_for_room(pause: Callable[[str], object], until: float) -> None:
    """Wait until there is power and room for heavy work, or it is so late (`time.monotonic`).

    `pause` is called with the reason, and waits a moment: what it raises ends the rest.
    """
    while time.monotonic() < until and (why := find_reason()):
        pause(why)


def find_reason() -> str:
    """Return why heavy work should wait: battery, load or "" for no reason.

    With `service.pause: off` there is none.
    """
    with suppress(OSError):
        if config.load(Place(None, store_paths.user_store())).get("service.pause") in (
            "off",
            False,
        ):
            return ""
    return "battery" if on_battery(SUPPLIES) else "load" if is_loaded() else ""


def is_loaded() -> bool:
    """Tell whether twice as much is running as there are processors, where that is known."""
    try:
        return os.getloadavg()[0] > 2 * (os.cpu_count() or 1)
    except (OSError, AttributeError):
        return False


def on_battery(supplies: str) -> bool:
    """Tell whether the machine runs on its battery, where the system says so (Linux)."""
    battery = False
    for folder in glob.glob(supplies):
        with suppress(OSError), open(f"{folder}/type", encoding="ascii") as handle:
            kind = handle.read().strip()
            if kind in ("Mains", "USB") and _read(f"{folder}/online") == "1":
                return False
            scope = _read(f"{folder}/scope")  # of a mouse or the like: Device
            battery |= (
                kind == "Battery"
                and scope != "Device"
                and (_read(f"{folder}/status") == "Discharging")
            )
    return battery


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as handle:
            return handle.read().strip()
    except OSError:
        return ""
