"""The measurement of starts runs, and holds each process against its floor."""

from benchmarks import start


def test_each_process_is_held_against_a_floor() -> None:
    timings = start.run(1, lambda _label, _length: lambda _more: None)
    floors = [timing for timing in timings if not timing.floor]
    assert [timing.ratio for timing in floors] == [1.0] * 3
    assert {timing.floor for timing in timings if timing.floor} == {each.name for each in floors}
    assert all(timing.median > 0 for timing in timings)
