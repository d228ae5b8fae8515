"""Links in a committed `local/`: nothing is read or written through them, whoever comes by.

30 places for a link (`linking.PLACES`) and 65 doors (`ways.DOORS`) are 1,950 combinations, in a
clone that is not trusted, in one whose `local/` was made here, and in one that was trusted before a
pull brought the link; each link leads to something of its kind outside, or to nothing.

Run by default: in a trusted clone, every door with links at all places of one depth at once.
`-m thorough` does so in every clone and with both targets, and goes through the doors that do most
with a link at every place alone; `-m links` runs all combinations, one link each.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.e2e import linking, ways
from tests.e2e.linking import MARK, STATES, Scene
from tests.e2e.ways import Door

DEPTHS = (linking.FILES, linking.INNER, linking.FOLDERS, linking.SIGNS, ("",))
SOME = [
    door
    for door in ways.DOORS
    if str(door)
    in (
        "cli search gophers tunnels",
        "cli edit rules --append more",
        "cli ingest said.jsonl",
        "cli doctor --fix",
        "hook claude UserPromptSubmit",
        "hook claude Stop",
    )
]


@pytest.fixture
def scene(home: Path) -> Iterator[Scene]:
    before = Path.cwd()
    yield Scene(home.parent / "links", home)
    os.chdir(before)


def troubles(
    scene: Scene, state: str, places: Sequence[str], door: Door, dangling: bool
) -> list[str]:
    """Go through a door where links are; return what should not be, each with where it was."""
    scene.put_back(state, places, dangling=dangling)
    found = []
    try:
        code, said = ways.go_through(door, scene.clone)
    except ways.HangError:
        code, said = 0, ""
        found.append("it hangs")
    if code not in (0, 1, 2):
        found.append(f"exit code {code}: {said[-300:]}")
    if MARK in said:
        found.append(f"what is outside was shown: {said[:300]}")
    found += [f"outside is another: {name}" for name in scene.harm()]
    where = " ".join(place or "local" for place in places)
    return [f"{state}, {door}, links at {where[:60]}: {each}" for each in found]


@pytest.mark.thorough
def test_every_door_with_links_at_all_places(scene: Scene) -> None:
    every_door(scene, "trusted", False)


@pytest.mark.thorough
@pytest.mark.parametrize("dangling", [False, True], ids=["filled", "dangling"])
@pytest.mark.parametrize("state", STATES)
def test_every_door_in_every_clone(scene: Scene, state: str, dangling: bool) -> None:
    every_door(scene, state, dangling)


def every_door(scene: Scene, state: str, dangling: bool) -> None:
    wrong = []
    for places in DEPTHS:
        for door in ways.DOORS:
            wrong += troubles(scene, state, places, door, dangling)
    assert not wrong, "\n".join(wrong)


@pytest.mark.thorough
def test_every_place_alone(scene: Scene) -> None:
    wrong = []
    for place in linking.PLACES:
        for door in SOME:
            wrong += troubles(scene, "trusted", [place], door, False)
    assert not wrong, "\n".join(wrong)


@pytest.mark.links
@pytest.mark.parametrize("dangling", [False, True], ids=["filled", "dangling"])
@pytest.mark.parametrize("state", STATES)
def test_every_door_with_every_link(scene: Scene, state: str, dangling: bool) -> None:
    assert len(linking.PLACES) * len(ways.DOORS) == 1950
    wrong = []
    for place in linking.PLACES:
        for door in ways.DOORS:
            wrong += troubles(scene, state, [place], door, dangling)
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)


def test_a_hooks_log_is_no_terminal_and_waits_for_nobody(
    scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    for state in STATES:
        for kind in ("stdout", "fifo"):
            for door in ways.EVENTS:
                scene.put_back(state, [], dangling=False)
                log = scene.clone / ".agent-memory/local/hook.log"
                log.unlink()
                if kind == "fifo":
                    os.mkfifo(log)
                else:
                    log.symlink_to("/dev/stdout")
                assert MARK not in ways.go_through(door, scene.clone)[1]
                assert capfd.readouterr() == ("", ""), (state, door)


def test_there_are_as_many_as_it_says() -> None:
    assert (len(linking.PLACES), len(ways.DOORS)) == (30, 65)
    assert len(SOME) == 6
