"""Any sequence of changes and faults ends with what the rules share, at the server."""

import shutil
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memfs.store import recall, session_outcomes
from memfs.store.blocks import Place
from memfs.store.session_outcomes import SessionOutcome
from memfs.team import membership, verbs
from memfs.team.client import TeamError
from memfs.team.status import load_status
from tests.examples import examples
from tests.ops.recorded_sessions import change, record
from tests.ops.team_model import Model
from tests.ops.team_steps import ME, outbox, send, share
from tests.team.small_server import SmallServer
from tests.team.team_table import TeamTable

NAMES = ("s1", "s2")
TEXTS = ("which port?", "Port 7741.", "a plan of EMCA", "<private>x</private>", "Monday.")
SAID = st.tuples(st.sampled_from(("user", "assistant", "tool")), st.sampled_from(TEXTS))
STEPS = st.one_of(
    st.tuples(st.just("record"), st.sampled_from(NAMES), st.lists(SAID, min_size=1, max_size=4)),
    st.tuples(st.just("edit"), st.sampled_from(NAMES), st.sampled_from(TEXTS)),
    st.tuples(st.just("forget"), st.sampled_from(NAMES)),
    st.tuples(st.just("share"), st.sampled_from(NAMES), st.booleans()),
    st.tuples(st.just("turns"), st.sampled_from(NAMES), st.integers(1, 3), st.integers(0, 2)),
    st.tuples(st.just("base"), st.sampled_from(("all", "solved")), st.booleans()),
    st.tuples(st.just("unshare"), st.sampled_from(("", *NAMES))),
    st.tuples(st.just("never"), st.booleans()),
    st.tuples(st.just("worked"), st.sampled_from(NAMES), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("faults"), st.lists(st.sampled_from(("after", "before", "")), max_size=3)),
    st.tuples(st.just("faults"), st.just(["after"])),
    st.tuples(st.just("send")),
)


class World:
    """A place with its model; each step changes both."""

    def __init__(self, place: Place, table: TeamTable) -> None:
        self.place, self.table, self.model = place, table, Model()

    def record(self, name: str, said: list[tuple[str, str]]) -> None:
        if name in self.model.said or not self._is_forgotten(name):
            record(self.place.home, name, *said)
            self.model.said.setdefault(name, []).extend(said)

    def edit(self, name: str, text: str) -> None:
        if name in self.model.said:
            change(self.place.home, name, text, "other words")
            said = self.model.said[name]
            said[:] = [(role, each.replace(text, "other words")) for role, each in said]

    def forget(self, name: str) -> None:
        if self.model.said.pop(name, None):
            recall.forget(self.place.home, "claude", name)

    def _is_forgotten(self, name: str) -> bool:
        return Path(self.place.home.local, f"recall/claude/{name}.forgotten").exists()

    def share(self, name: str, tools: bool) -> None:
        if name in self.model.said:
            share(self.place, session=name, tools=tools)
            self.model.turns = [each for each in self.model.turns if each[0] != name]
            self.model.turns.append((name, 0, 0, tools))
            self.model.withheld.discard(name)

    def turns(self, name: str, first: int, more: int) -> None:
        count = sum(role == "user" for role, _ in self.model.said.get(name, ()))
        if first + more <= count:
            share(self.place, session=name, first=first, last=first + more)
            self.model.turns.append((name, first, first + more, False))
            self.model.withheld.discard(name)

    def base(self, base: str, tools: bool) -> None:
        share(self.place, base=base, tools=tools)
        self.model.base, self.model.tools = base, tools

    def unshare(self, name: str) -> None:
        model = self.model
        if not name:
            verbs.unshare(self.place, "", ME)
            model.base, model.tools, model.turns, model.withheld = "nothing", False, [], set()
        elif name in model.said:
            verbs.unshare(self.place, name, ME)
            model.turns = [each for each in model.turns if each[0] != name]
            model.withheld.discard(name)
            model.withheld |= {name} if model.base != "nothing" else set()

    def never(self, remove: bool) -> None:
        if remove <= self.model.never:
            verbs.set_pattern(self.place, "emca", ME, remove=remove)
            self.model.never = not remove

    def worked(self, name: str, turn: int, worked: bool) -> None:
        session_outcomes.write_outcome(self.place.home, SessionOutcome(name, worked, turn=turn))
        self.model.worked[name, turn] = worked

    def faults(self, faults: list[str]) -> None:
        self.table.faults = faults

    def send(self) -> None:
        try:
            send(self.place)
        except TeamError:
            return
        self.check()

    def check(self) -> None:
        rows = self.table.list_rows()
        assert {(r["name"][1], r["ordinal"], r["text"]) for r in rows} == self.model.wanted()
        found = outbox(self.place)
        assert found._flight == {}
        ids = set[str]().union(*(found.load_ids(s.name) for s in found.list_sessions()))
        assert ids == {row["id"] for row in rows}
        for (_, name), title in self.table.titles.items():
            texts = [text for session, _, text in self.model.wanted() if session == name]
            assert not texts or not title or title in texts


@given(st.lists(STEPS, max_size=14))
@examples(60)
def test_whatever_happens_the_server_ends_with_what_is_shared(
    joined: Place, server: SmallServer, steps: list[tuple[str, object]]
) -> None:
    table = TeamTable()
    server.handle = table.answer
    shutil.rmtree(f"{joined.home.local}/recall", ignore_errors=True)
    Path(joined.home.local, session_outcomes.FILE).unlink(missing_ok=True)
    for name in ("sent", "projects"):
        shutil.rmtree(f"{joined.store('user').local}/team/{name}", ignore_errors=True)
    Path(membership.get_patterns_path(joined.store("user"))).unlink(missing_ok=True)
    verbs.join_project(joined, server.address, "mft_1", ME, project="shop")
    world = World(joined, table)
    for name, *words in steps:
        getattr(world, name)(*words)
    table.faults = []
    send(joined)
    world.check()
    status = load_status(joined)
    assert status
    assert not status.waits
