"""The words that say that a passage is about the user are English."""

from __future__ import annotations

import pytest

from memfs.store import archive
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from tests.tools.conftest import Do


def list_passages(store: Store | None) -> list[str]:
    assert store
    return [found.text for path in archive.sources(store) if (found := archive.read(path))]


@pytest.mark.parametrize(
    "text",
    [
        "Der Nutzer bevorzugt kurze Antworten und dunkle Themen.",
        "Mein Name ist Ana und ich wohne in Wien.",
        "L'utilisateur préfère les réponses courtes et en français.",
        "El usuario prefiere respuestas cortas y temas oscuros.",
        "Käyttäjä pitää lyhyistä vastauksista ja tummista teemoista.",
        "Пользователь предпочитает короткие ответы и тёмные темы.",
        "用户喜欢简短的回答,并且住在北京。",
        "المستخدم يفضل الإجابات القصيرة والمواضيع الداكنة.",
    ],
)
@pytest.mark.parametrize("given", [{}, {"tags": ["personal"]}, {"about": "user"}])
def test_other_languages_are_the_projects_unless_it_is_said(
    place: Place, do: Do, text: str, given: dict[str, object]
) -> None:
    done = do("archival_memory_insert", content=text, **given)
    assert not done.is_error, done.text
    theirs, ours = (place.user, place.project) if given else (place.project, place.user)
    assert (list_passages(theirs), list_passages(ours)) == ([text], [])
