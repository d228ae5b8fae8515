"""Names in the package are the field's standard terms, and floors are told one way."""

import ast
import importlib
import re
import tomllib

from tests.test_house import ROOT, nodes, parse

PACKAGE = ROOT / "memfs"
PATHS = sorted(PACKAGE.rglob("*.py"))
# Participles, pronouns, prepositions and pictures: nobody can guess what is behind one of them.
BANNED = frozenset(
    """
    again ago among answered answering apart as_is aside asked asking at_once away back behind
    beside both bring brought chosen claim cleaned closely closing committed compose
    consolidated cut dated desk differing distinct drawn due edited elsewhere ended ends every
    everything everywhere exact existing expected extents extracted failed fate fences fields
    fits fitted flat folded foreign found full fuse give given have hear heard held here
    holdings hub identified in_order inbox inside intake installed is_one joined keep kept known
    lane last latest leaks leave leaving left lingering listed listening loaded located look
    looked looking looks lowered made made_up marked masked merged_by missed named nearby needed
    nested news notes numbered of off once opened order ours out pace peers pending picture
    places plain plugged present printed private proposed published pulled question quick quoted
    quoting ran raw readable ready reasons recurring reembed relief remembered reminder repeats
    replaced rest running safe said sagging scan scored searched second served serving settle
    shapes shares shipped shown similar since spare spending spoken stamped standing stands
    starting states stated stopped stored streamed suspicion take taken tell tells there
    together told touching triggers trusted unchecked unfit unkept unsay until waiting wanted
    warmth was whole whose wired within without worded written written_here
    """.split()
)


def functions(tree: ast.Module) -> set[str]:
    """Return the names of the public functions of a module, methods aside."""
    found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return {name for name in found if not name.startswith("_")}


VERBS = {
    "scan",
    "claim",
    "keep",
    "fuse",
    "compose",
    "order",
}  # with an object, where they are private
FIXED = {"full", "latest", "similar"}  # of classes that programs use


def inner_functions(tree: ast.Module) -> set[str]:
    """Return the names of methods and private functions, without properties."""
    return {
        node.name.strip("_")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not any("property" in ast.unparse(each) for each in node.decorator_list)
    }


def test_no_function_has_a_name_that_says_nothing() -> None:
    found = {path: inner_functions(parse(path)) & (BANNED - VERBS - FIXED) for path in PATHS}
    found |= {path: functions(parse(path)) & BANNED for path in PATHS if not found[path]}
    assert {path: names for path, names in found.items() if names} == {}


def test_no_module_has_one() -> None:
    found = [path for path in PATHS if path.stem in BANNED]
    assert [path for path in found if path.parent.name != "commands"] == []  # as the command is


def test_the_contract_the_rooms_and_the_guide_tell_the_same_floors() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    layers = tool["importlinter"]["contracts"][0]["layers"]
    contract = {
        room: floor
        for floor, layer in enumerate(reversed(layers))
        for room in re.findall(r"\w+", layer)
    }
    guide = (ROOT / "docs/contributing/internals.md").read_text(encoding="utf-8")
    table = {
        room: int(floor)
        for floor, rooms in re.findall(r"^\| (\d+) \| (.+?) \|", guide, re.MULTILINE)
        for room in re.findall(r"`(\w+)", rooms)
    }
    said = {
        path.parent.name: int(found[1])
        for path in PATHS
        if path.name == "__init__.py"
        and path.parent.parent == PACKAGE
        and (found := re.match(r"Floor (\d+)\b", ast.get_docstring(parse(path)) or ""))
    }
    assert table == contract
    assert said == contract


def test_what_a_program_in_a_string_imports_is_there() -> None:
    """Processes of our own begin with one: no type checker sees what it names."""
    inside = (node for path in PATHS for node in nodes(path))
    for text in (str(node.value) for node in inside if isinstance(node, ast.Constant)):
        for module, name in re.findall(r"^from (memfs[\w.]*) import (\w+)$", text, re.MULTILINE):
            found = importlib.import_module(f"{module}.{name}")
            for function in re.findall(rf"^{name}\.(\w+)\(", text, re.MULTILINE):
                assert callable(getattr(found, function))
        if re.fullmatch(r"memfs(\.[a-z_]+){2,}", text):
            assert importlib.import_module(text)
