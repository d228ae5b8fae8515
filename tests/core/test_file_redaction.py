"""Secrets in whole files: every form is looked through, and only what is secret goes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memfs.core import file_redaction
from memfs.core.file_redaction import FileSecret
from memfs.secrets import redact

SECRET = "ghp_" + "".join(f"{n}aB" for n in range(10, 22))[:36]
MARK = "[redacted:github-token]"
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).filter(
    lambda text: redact(f"{text} {SECRET} {text}") == f"{text} {MARK} {text}"
)


def test_a_leak_names_line_and_type_and_does_not_give_it_away() -> None:
    assert file_redaction.find(f"a\nb {SECRET}\n", "text") == [
        FileSecret(2, "github-token", "ghp… (40 characters)")
    ]
    assert file_redaction.mask("hunter2xyz") == "… (10 characters)"


def test_in_json_lines_the_texts_are_read_and_names_are_not() -> None:
    texts = json.dumps({"id": SECRET, "after": f"x\n{SECRET}", "more": [{"deep": SECRET}]})
    assert [leak.line for leak in file_redaction.find(f"{{}}\n{texts}\n", "lines")] == [2]
    clean = json.loads(file_redaction.redact_file(texts, "json"))
    assert clean == {"id": SECRET, "after": f"x\n{MARK}", "more": [{"deep": MARK}]}


def test_what_is_no_json_is_text() -> None:
    assert file_redaction.redact_file(f'{{"a": "{SECRET}', "lines") == f'{{"a": "{MARK}'
    assert [leak.line for leak in file_redaction.find(f"{{}}\n[{SECRET}", "lines")] == [2]
    deep = "[" * 100_000 + SECRET
    assert file_redaction.redact_file(deep, "json") == "[" * 100_000 + MARK


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_every_other_word_is_kept(words: list[str]) -> None:
    texts = [f"{word} {SECRET} {word}" for word in words]
    clean = [f"{word} {MARK} {word}" for word in words]
    lines = [json.dumps({"before": text, "n": 1.5}) + "\n" for text in texts]
    made = file_redaction.redact_file("".join(lines), "lines")
    assert made == "".join(json.dumps({"before": text, "n": 1.5}) + "\n" for text in clean)
    assert file_redaction.find(made, "lines") == []


@given(st.text(max_size=200), st.sampled_from(["text", "json", "lines"]))
def test_what_holds_no_secret_keeps_its_bytes(text: str, form: file_redaction.Form) -> None:
    if not file_redaction.find(text, form):
        assert file_redaction.redact_file(text, form) == text
