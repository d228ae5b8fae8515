"""What an author wrote into front matter is text: no number, no comment, no word of YAML's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.block import Block
from memfs.core.frontmatter import strip_fences
from memfs.core.yaml_edit import read as full_reader
from memfs.importers import text_files

WORDS = ["3.10", "1e3", "null", "no", "~", "true", "0x1F", "2026-05-01", "1_000", "fix", "a b"]
DESCRIPTION = st.one_of(
    st.sampled_from([*WORDS, "PR #762 and issue #800", "C # not C++", "a #", "tabs # spaces"]),
    st.from_regex(r"[a-z]{1,9}( [a-z]{1,9})? #[a-z0-9]{0,8}( [a-z0-9]{1,3})?", fullmatch=True),
)


@pytest.mark.parametrize("form", ["tags: [{}]\n", "tags:\n  - {}\n", "tags:\n- {}\n"])
@given(description=DESCRIPTION, tags=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_description_and_tags_are_read_as_they_are_written(
    form: str, description: str, tags: list[str]
) -> None:
    between = ", " if "[" in form else form.partition("{")[0].partition("\n")[2].join(["\n", ""])
    written = form.format(between.join(tags))
    head = f"---\ndescription: {description}\n{written}limit: 9\n---\n"
    found = Block("project", "a", "", f"{head}text\n", full_reader)
    assert (found.description, found.tags, found.limit) == (description, tags, 9)
    meta = text_files.parse_meta(strip_fences(head))
    assert (meta["description"], meta["tags"]) == (description, tags)


BROKEN = (
    'title: Re: hello\nowner: team # a\ntags: [auth, "no"]\nlist:\n  - a\n  - "b c"\nat: {{date}}\n'
)


def test_what_is_no_yaml_is_read_in_one_way_and_written_as_yaml() -> None:
    meta = {
        "title": "Re: hello",
        "owner": "team # a",
        "tags": ["auth", "no"],
        "list": ["a", "b c"],
        "at": "{{date}}",
    }
    assert text_files.parse_meta(BROKEN) == meta
    written = text_files.write_head(f"---\n{BROKEN}---\n", {"limit": 9}, {"description": "x"})
    assert full_reader(strip_fences(written)) == ({**meta, "limit": 9, "description": "x"}, "")


@given(
    lines=st.lists(
        st.sampled_from(
            ["a: 3.10", "# why", "b: no", "c: {d: 1}", "e:\n  - f", "g: 'h'", "i: 1e3"]
        ),
        unique=True,
    )
)
def test_the_other_lines_of_a_note_stay_as_they_are(lines: list[str]) -> None:
    head = "---\n" + "".join(f"{line}\n" for line in lines) + "version: 9\n---\n"
    written = text_files.write_head(head, {"limit": 9})
    assert written == head.replace("version: 9\n", "limit: 9\n")
