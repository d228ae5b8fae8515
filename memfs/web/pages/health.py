"""Health: what doctor finds and fixes, trust, secrets, what can be imported, the service."""

from __future__ import annotations

from starlette.responses import Response

from memfs.core import parts
from memfs.core.errors import RejectedError
from memfs.ops import doctor, purge, service, trust
from memfs.web.rendering import Visit, get, post


def show_health(visit: Visit) -> Response:
    """Show what doctor finds, and the service."""
    found = doctor.run(visit.place, visit.site.home)
    order = {"error": 0, "warning": 1, "ok": 2}
    return visit.render(
        "health.html",
        "health",
        "Health",
        findings=sorted(found, key=lambda each: order[each.level]),
        wrong=sum(each.level != "ok" for each in found),
        service=service.load_status(),
    )


def fix_findings(visit: Visit) -> Response:
    """Fix what can be fixed without losing a byte."""
    done = doctor.fix(visit.place, visit.site.home)
    for each in done:
        visit.say(each.text, "done" if each.level == "ok" else "refused")
    if not done:
        visit.say("no problem can be fixed from here")
    return visit.redirect("health")


def switch_service(visit: Visit) -> Response:
    """Start or stop the service."""
    if visit.form.get("to") == "stop":
        service.stop()
        visit.say("the service has stopped")
    else:
        service.start()
        visit.say("the service runs")
    return visit.redirect("health")


def show_trust(visit: Visit) -> Response:
    """Show what assistants would be given of the project's store, and what may steer them."""
    report = trust.review_store(visit.place)
    return visit.render("trust.html", "health", "Trust", report=report)


def revoke_trust(visit: Visit) -> Response:
    """Trust the store no more. What trusts it is a person at a terminal, and no browser is one."""
    if visit.form.get("to") != "revoke":
        raise RejectedError(
            "the page cannot trust a store", "run memfs trust in a terminal of your own"
        )
    trust.revoke(visit.place)
    visit.say("this store is no longer trusted: hooks do not use it")
    return visit.redirect("health/trust")


def show_secrets(visit: Visit) -> Response:
    """Scan for secrets, and show where they are, masked."""
    scan = purge.find(visit.place, visit.site.home)
    return visit.render("secrets.html", "health", "Secrets", scan=scan)


def redact_secrets(visit: Visit) -> Response:
    """Redact the secrets in files of ours."""
    done = purge.run(visit.place)
    visit.say(f"{len(done.done):,} secrets are redacted, {len(done.left):,} are left")
    return visit.redirect("health/secrets")


def list_imports(visit: Visit) -> Response:
    """Show what other tools on this machine remember, and how it would be imported."""
    found = parts.load("importers.importing").list_tools(visit.site.home)
    return visit.render("imports.html", "health", "Other tools", found=found)


ROUTES = [
    get("/health", show_health),
    post("/health/fix", fix_findings),
    post("/health/service", switch_service),
    get("/health/trust", show_trust),
    post("/health/trust", revoke_trust),
    get("/health/secrets", show_secrets),
    post("/health/secrets", redact_secrets),
    get("/health/imports", list_imports),
]
