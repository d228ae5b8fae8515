from __future__ import annotations

from memfs.bench import hook


def test_it_times_the_floor_and_hooks_that_have_something_to_show() -> None:
    ticks: list[int] = []
    found = hook.run(1, ticks.append)
    assert [timing.name.partition(",")[0] for timing in found] == [
        "python -I -S -E -c pass", "prompt hook", "prompt hook",
    ]  # fmt: skip
    assert found[0].ratio == 1
    assert all(timing.median > 0 for timing in found)
    assert sum(ticks) == 3
