"""Base64 of text: what it says decides. Every sample is put together here."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.secrets import find_secrets, redact
from tests.secrets.samples import MIXED, PASSWORD

ENV = f"DB_HOST=db.acme.dev\nDB_USER=app\nDB_PASSWORD={PASSWORD}\nAPI_TOKEN={MIXED[:32]}\n"
PROSE = "The team looks at the plan for the next release of this project on Monday.\n"
JSON = '{"name": "demo", "scripts": {"build": "vite build", "test": "vitest run"}}\n'


def encode(text: str, *, url: bool = False) -> str:
    data = text.encode()
    return base64.urlsafe_b64encode(data).decode() if url else base64.b64encode(data).decode()


def wrap(text: str, width: int, between: str) -> str:
    return between.join(text[at : at + width] for at in range(0, len(text), width))


FORMS = {
    "bare": "{}",
    "a command": "echo {} | base64 -d > .env",
    "json": '{{"env": "{}"}}',
    "a variable": "ENV_FILE={}",
    "a secret of kubernetes": "kind: Secret\ndata:\n  .env: {}\n",
    "xml": "<data>{}</data>",
    "an address": "data:text/plain;base64,{}",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("url", [False, True])
def test_a_secret_in_base64_is_found_whatever_it_stands_in(form: str, *, url: bool) -> None:
    for value in (encode(ENV, url=url), encode(ENV, url=url).rstrip("="), encode(encode(ENV))):
        assert value not in redact(FORMS[form].format(value))


@pytest.mark.parametrize("between", ["\n", "\r\n", "\n  ", "\\n", "\n> ", '"\n    "'])
@pytest.mark.parametrize("width", [60, 64, 76])
def test_lines_of_base64_are_one_text(width: int, between: str) -> None:
    wrapped = wrap(encode(ENV * 2), width, between)
    left = redact(f"before {wrapped} after")
    assert not any(line in left for line in wrapped.split(between))
    assert left.startswith("before ")
    assert left.endswith(" after")


def test_a_login_in_base64_is_one() -> None:
    login = encode(f"acme:{PASSWORD}")
    docker = json.dumps({"auths": {"r.acme.dev": {"auth": login}}})
    for text in (
        docker,
        f"//r.acme.dev/:_auth={login}",
        f".dockerconfigjson: {encode(docker)}",
        f"kind: Secret\ndata:\n  url: {encode(f'postgres://app:{PASSWORD}@db.acme.dev/x')}\n",
    ):
        assert find_secrets(text), text


@pytest.mark.parametrize("form", [*FORMS.values(), 'content = "{}"', "key: {}", "payload={}"])
@pytest.mark.parametrize("said", [PROSE, JSON, "# Ein Titel\n\nÜber den Dächern fliegen Vögel.\n"])
def test_words_in_base64_are_no_secret(said: str, form: str) -> None:
    for value in (encode(said), encode(said * 4), encode(said, url=True).rstrip("=")):
        assert find_secrets(form.format(value)) == []
    assert find_secrets(wrap(encode(said * 4), 76, "\n")) == []


@given(st.text(max_size=80), st.text(max_size=80))
def test_what_is_around_an_assignment_hides_it_not(before: str, after: str) -> None:
    text = f"# settings of it\n{before}\nDB_PASSWORD={PASSWORD}\n{after}"
    value = encode(text.encode("utf-8", "replace").decode())
    assert value not in redact(value)
