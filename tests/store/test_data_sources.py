"""What the configuration says of data sources: whose they are, and what they may not name."""

import os
from pathlib import Path

import pytest

from memfs.store import blocks, data_sources, trust
from memfs.store.blocks import Place


def configure(place: Place, text: str, *, user: bool = False) -> None:
    store = place.user if user else place.project
    assert store
    Path(store.root, "config.yaml").write_text(f"memfs: 1\n{text}")


def reasons(place: Place) -> list[str]:
    """Return what is refused, without the path of the file."""
    return [each.partition(": ")[2] for each in data_sources.refuse_sources(place)]


def test_a_projects_come_before_the_users(place: Place, repo: Path, home: Path) -> None:
    (repo / "docs").mkdir()
    (home / "notes").mkdir()
    configure(
        place, 'sources:\n  docs:\n    paths: [docs]\n    glob: ["*.md"]\n    chunk_size: 900\n'
    )
    configure(place, "sources:\n  docs:\n    paths: [~/notes]\n", user=True)
    project, user = data_sources.list_sources(place)
    assert (project.tier, project.paths, project.globs) == (
        "project", (str(repo / "docs"),), ("*.md",)
    )  # fmt: skip
    assert (project.chunk_size, project.overlap, project.shown) == (900, 150, "docs/")
    assert (user.tier, user.paths, user.shown) == ("user", (str(home / "notes"),), "~/notes/")
    assert project.index == f"{repo}/.agent-memory/local/sources/docs"
    assert user.index == f"{home}/.agent-memory/local/sources/docs"
    assert data_sources.refuse_sources(place) == []


def test_those_of_a_linked_worktree_have_indexes_of_their_own(linked: Place, repo: Path) -> None:
    configure(linked, "sources:\n  docs:\n    paths: [docs]\n")
    [found] = data_sources.list_sources(linked)
    assert found.index == f"{repo}/.agent-memory/local/sources-linked/docs"
    assert linked.project
    assert found.paths == (f"{linked.project.top}/docs",)


def test_those_of_a_project_count_where_it_is_trusted(place: Place) -> None:
    configure(place, "sources:\n  docs:\n    paths: [docs]\n")
    assert place.project
    trust.revoke_trust(place.project)
    assert data_sources.list_sources(place) == []
    assert reasons(place) == ["its sources are not used, because you have not trusted the store"]


def test_the_history_of_a_trusted_project_is_searched(linked: Place, tmp_path: Path) -> None:
    history = data_sources.find_history(linked)
    assert history
    assert history.index.endswith("/.agent-memory/local/sources-linked/commits")
    assert data_sources.list_sources(linked) == []
    assert data_sources.find_history(Place(None, linked.user)) is None
    assert linked.project
    trust.revoke_trust(linked.project)
    assert data_sources.find_history(blocks.find_place(linked.project.top)) is None


def test_the_name_of_the_history_is_taken(place: Place) -> None:
    configure(place, "sources:\n  commits:\n    paths: [docs]\n")
    assert data_sources.list_sources(place) == []
    assert reasons(place) == [
        "sources.commits is not used: the name is reserved for the project's own commits"
    ]


def test_without_sources_nothing_is_listed(place: Place) -> None:
    assert data_sources.list_sources(place) == []
    assert data_sources.list_sources(Place(None, place.user)) == []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("5", "expected a mapping with 'paths'"),
        ("{}", "'paths' is missing or empty"),
        ("{paths: 5}", "'paths' is not a list of strings"),
        ("{paths: docs}", "'paths' is not a list of strings"),
        ("{paths: [5]}", "'paths' is not a list of strings"),
        ('{paths: [""]}', "'paths' is not a list of strings"),
        ('{paths: ["a\\0b"]}', "'paths' is not a list of strings"),
        ("{paths: [docs], glob: {a: 1}}", "'glob' is not a list of strings"),
        (f"{{paths: [{', '.join('x' * 1000)}]}}", "'paths' has 1,000 entries, the limit is 100"),
        ("{paths: [docs], chunk_size: 0}", "'chunk_size' is 0, expected 200 to 20,000"),
        ("{paths: [docs], chunk_size: true}", "'chunk_size' is True, expected 200 to 20,000"),
        ("{paths: [docs], overlap: 800}", "'overlap' is 800, expected 0 to half of 'chunk_size'"),
        ("{paths: [/etc]}", "'/etc' must be relative to the repository's folder"),
        ("{paths: [~/x]}", "'~/x' must be relative to the repository's folder"),
        ("{paths: [../x]}", "'../x' must not contain '..'"),
        ("{paths: [docs/../../x]}", "'docs/../../x' must not contain '..'"),
        ("{paths: [.git]}", "'.git' is in git's own folder"),
        ("{paths: [.agent-memory/blocks]}", "'.agent-memory/blocks' is in the store, which memfs already searches"),
        ("{paths: [out]}", "'out' leads out of the repository, to /usr"),
        ("{paths: [out/share]}", "'out/share' leads out of the repository, to /usr/share"),
    ],
)  # fmt: skip
def test_what_a_repository_may_not_say_is_refused(
    place: Place, repo: Path, value: str, reason: str
) -> None:
    (repo / "out").symlink_to("/usr")
    configure(place, f"sources:\n  docs: {value}\n")
    assert data_sources.list_sources(place) == []
    assert reasons(place) == [f"sources.docs is not used: {reason}"]


def test_a_users_own_are_anywhere_but_written_whole(place: Place) -> None:
    configure(
        place, "sources:\n  a: {paths: [x]}\n  b: {paths: [/]}\n  c: {paths: [/usr]}\n", user=True
    )
    assert [each.name for each in data_sources.list_sources(place)] == ["c"]
    assert reasons(place) == [
        "sources.a is not used: 'x' must begin with '/' or '~/'",
        "sources.b is not used: '/' is the whole disk",
    ]


@pytest.mark.parametrize("name", ["Docs", "a/b", "a.b", "-x", "x" * 65, "con"])
def test_names_are_like_labels(place: Place, name: str) -> None:
    configure(place, f"sources:\n  {name}: {{paths: [docs]}}\n")
    assert data_sources.list_sources(place) == []
    assert len(reasons(place)) == 1


def test_several_paths_have_names_below_the_folder_of_all(place: Place, repo: Path) -> None:
    for name in ("docs/a/x", "docs/b"):
        (repo / name).mkdir(parents=True)
    configure(place, "sources:\n  docs:\n    paths: [docs/a, docs/b, docs/a/x]\n")
    [found] = data_sources.list_sources(place)
    assert found.paths == (f"{repo}/docs/a", f"{repo}/docs/b")
    assert (found.top, found.shown) == (f"{repo}/docs", "docs/")


def test_a_link_within_the_repository_is_where_it_leads(place: Place, repo: Path) -> None:
    (repo / "docs").mkdir()
    (repo / "handbook").symlink_to("docs")
    configure(place, "sources:\n  docs:\n    paths: [handbook]\n")
    [found] = data_sources.list_sources(place)
    assert found.paths == (f"{repo}/docs",)


def test_a_configuration_that_is_too_long_has_none(place: Place) -> None:
    configure(place, f"sources:\n  docs:\n    paths: [{', '.join(['docs'] * 20_000)}]\n")
    assert data_sources.list_sources(place) == []
    assert os.path.getsize(blocks.get_config_path(place.home)) > 64 << 10
