from collections.abc import Callable

from benchmarks import hook


def test_it_times_the_floor_and_hooks_that_have_something_to_show() -> None:
    told: dict[str, int] = {}

    def stage(name: str, total: int) -> Callable[[int], object]:
        told[name] = -total

        def tick(more: int) -> None:
            told[name] += more

        return tick

    found = hook.run(1, 500, stage)
    assert [timing.name.partition(",")[0] for timing in found] == [
        "python -I -S -E -c pass",
        "prompt hook",
        "prompt hook",
        "the same with the service",
        "a file that is read",
    ]
    assert found[0].ratio == 1
    assert all(timing.median > 0 for timing in found)
    assert told == {
        "writing": 0,
        "indexing": 500 + hook.BLOCKS,
        "embedding": 0,
        "warming": 0,
        "timing": 0,
    }
