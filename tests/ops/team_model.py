"""What ought to be shared with a team, said another way than the program says it."""

from dataclasses import dataclass, field


@dataclass
class Model:
    """What ought to be shared, said another way: from lists of what was said."""

    said: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    turns: list[tuple[str, int, int, bool]] = field(default_factory=list)
    withheld: set[str] = field(default_factory=set)
    base: str = "nothing"
    tools: bool = False
    never: bool = False
    worked: dict[tuple[str, int], bool] = field(default_factory=dict)

    def wanted(self) -> set[tuple[str, int, str]]:
        found = set()
        for name, said in self.said.items():
            turn, turns = 0, []
            for role, _ in said:
                turn += role == "user"
                turns.append(turn)
            chosen = set()
            for n, (role, _) in enumerate(said):
                ways = [t for s, a, b, t in self.turns if s == name and a <= turns[n] <= (b or 99)]
                ways += [self.tools] if self.base == "all" else []
                if ways and (role != "tool" or any(ways)):
                    chosen.add(n)
            for (session, turn), worked in self.worked.items():
                if session == name and worked and self.base == "solved":
                    of = [n for n in range(len(said)) if turn in (0, turns[n])]
                    chosen |= set([n for n in of if said[n][0] == "user"][:1])
                    chosen |= set([n for n in of if said[n][0] == "assistant"][-1:])
            for n in chosen if name not in self.withheld else ():
                text = said[n][1]
                if "private" not in text and not (self.never and "EMCA" in text):
                    found.add((name, n + 1, text))
        return found
