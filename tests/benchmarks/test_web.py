"""`benchmarks.web` asks the real page."""

from benchmarks import web


def test_each_page_is_timed_against_its_rows() -> None:
    found = web.run(5, 300, lambda *_: lambda _: None)
    assert [each.name for each in found] == [
        "blocks",
        "one block",
        "sessions",
        "one session",
        "search",
        "timeline",
        "start until the first page",
    ]
    assert all(0 < each.median <= each.p95 for each in found)
    assert all(each.rows and each.ratio == each.median / each.rows for each in found[:-1])
