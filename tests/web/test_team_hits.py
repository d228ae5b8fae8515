"""Search in the page, also in what others shared with the team."""

from collections.abc import Iterator

import pytest

from memfs.core.records import Origin
from memfs.store.blocks import Place
from memfs.team import verbs
from tests.ops.recorded_sessions import record
from tests.team.small_server import serve
from tests.team.team_table import TeamTable, make_hit
from tests.web.conftest import Client

BOX = "also search the team"


@pytest.fixture
def table(place: Place) -> Iterator[TeamTable]:
    """A team's server, which the project has joined, and something of one's own."""
    record(place.home, "s-1", ("user", "Why is the gateway slow?"))
    table = TeamTable()
    table.hits = [make_hit("The gateway waits for a lock.")]
    with serve(table.answer) as server:
        verbs.join_project(place, server.address, "mft_1", Origin(), project="shop")
        yield table


def test_hits_of_others_say_who_shared_them_and_lead_nowhere(
    page: Client, table: TeamTable
) -> None:
    answer = page.get("search?q=gateway&in=recall&team=yes")
    assert "1 to 2 of the best 2 hits" in answer.words
    own, other = answer.text.split('<li class="entry', 2)[1:]
    assert f'href="{page.base}/sessions/claude/s-1?message=m0#here"' in own
    assert (
        '<h2 class="quote"><span dir="auto">shared by ana in shop, 2026-05-03</span></h2>' in other
    )
    assert "The <mark>gateway</mark> waits for a lock." in other
    assert other.startswith(' shared" tabindex="-1" data-entry>')
    assert "<a " not in other.partition("</li>")[0]
    assert "Why: words" in other


def test_the_box_stays_as_it_was_and_asks_nobody_by_itself(page: Client, table: TeamTable) -> None:
    assert f'name="team" value="yes"> {BOX}' in page.get("search").text
    assert "sends the question to your team server" in page.get("search").words
    assert "shared by" not in page.get("search?q=gateway").text
    assert table.searches == []
    ticked = page.get("search?q=gateway&team=yes").text
    assert f'name="team" value="yes" checked> {BOX}' in ticked
    assert "search?q=gateway&amp;team=yes&amp;in=recall" in ticked  # of a facet


def test_later_pages_go_on_with_both(page: Client, place: Place, table: TeamTable) -> None:
    record(place.home, "s-2", *(("user", f"gateway {number} is slow") for number in range(30)))
    table.hits = [make_hit(f"gateway {number} was theirs") for number in range(12)]
    first, second = (page.get(f"search?q=gateway&team=yes&page={each}").text for each in (1, 2))
    assert (first.count("shared by ana"), second.count("shared by ana")) == (10, 2)


def test_without_the_server_the_page_says_so(page: Client, table: TeamTable) -> None:
    table.faults = ["before"]
    words = page.get("search?q=gateway&team=yes").words
    assert "no hits from the team: the database is away" in words
    assert "Why is the gateway slow?" in words


def test_without_a_team_there_is_no_box(page: Client, place: Place) -> None:
    record(place.home, "s-1", ("user", "Why is the gateway slow?"))
    assert BOX not in page.get("search").text
    assert "sent to your team" not in page.get("search").text
    answer = page.get("search?q=gateway&team=yes")
    assert "this project has not joined a team" in answer.words
    assert "Why is the gateway slow?" in answer.words


def test_what_others_wrote_is_text(page: Client, table: TeamTable) -> None:
    odd = "<script>alert(1)</script> gateway <img src=x>"
    table.hits = [
        make_hit(odd, member=odd, project=odd, before=odd, after=odd, host=odd, why=[odd])
    ]
    text = page.get("search?q=gateway&team=yes").text
    assert "&lt;script&gt;" in text
    assert "<script>alert" not in text
    assert "<img" not in text
