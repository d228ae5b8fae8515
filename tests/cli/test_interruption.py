"""Ctrl-C while something takes long."""

import signal

import click
import pytest

from memfs.cli import group
from memfs.cli.progress import stoppable_stages


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def work(steps: int, *, pressed_at: tuple[int, ...]) -> list[int]:
    """Do so many steps, with Ctrl-C at some of them; return those that were done."""
    done = []
    try:
        with stoppable_stages(lambda: "so far it is in; run it again") as stage:
            tick = stage("reading", steps)
            for number in range(steps):
                tick(1)
                done.append(number)
                for _ in range(pressed_at.count(number)):
                    press()
                done.append(number)
    except click.exceptions.Exit as stop:
        done.append(stop.exit_code)
    return done


def test_the_work_stops_at_its_next_step_and_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert work(3, pressed_at=(1,)) == [0, 0, 1, 1, 130]
    assert capsys.readouterr().err == "stopped: so far it is in; run it again\n"


def test_the_second_stops_at_once() -> None:
    assert work(3, pressed_at=(1, 1)) == [0, 0, 1, 130]


def test_work_that_is_done_by_then_is_done() -> None:
    before = signal.getsignal(signal.SIGINT)
    assert work(2, pressed_at=(1,)) == [0, 0, 1, 1]
    assert signal.getsignal(signal.SIGINT) is before


def read(steps: int | None, done: list[str]) -> None:
    with stoppable_stages(lambda: "run it again", reads=True) as stage:
        if steps is not None:
            stage("indexing", steps)(2)
        press()
        done.append("found")


@pytest.mark.parametrize("steps", [None, 2, 0])
def test_what_only_reads_ends_with_130_also_when_all_is_done(steps: int | None) -> None:
    done: list[str] = []
    with pytest.raises(click.exceptions.Exit) as stopped:
        read(steps, done)
    assert stopped.value.exit_code == 130
    assert done == (["found"] if steps == 0 else []), "a stage that may go on is not cut short"


class _Stopping:
    def __set_name__(self, owner: type, name: str) -> None:
        press()


@click.command()
def making_a_class() -> None:
    type("Made", (), {"field": _Stopping()})  # Python makes a RuntimeError of it


def test_a_stop_while_a_module_is_loaded_is_a_stop(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["memfs"])
        assert group.run(making_a_class) == 130
    assert capsys.readouterr().err == "stopped\n"
