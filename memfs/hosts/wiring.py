"""Whether a host's settings run our hooks. Imported where a plugin answers: it need not, then."""

from memfs.files import outside
from memfs.hosts import settings, settings_merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.hosts.base import Host


def is_wired(host: "Host", home: str, project: str) -> bool:
    """Return whether settings of a user or a project run hooks of ours that would start here.

    `project` is the folder of a project with a store, "" for none.
    """
    for scope in ("user", "project", "local") if project else ("user",):
        for path, _ in host.wiring(scope, home, project)[:1]:
            if settings_merge.may_have_hooks(outside.read(path) or "") and _can_run(path):
                return True
    return False


def _can_run(path: str) -> bool:
    """Return whether hooks of ours in a settings file would start here."""
    found = settings_merge.commands(settings.parse(outside.read(path) or "", path))
    return any(
        all(map(settings_merge.is_available, settings_merge.programs(each))) for each in found
    )
