"""Health: what doctor finds and fixes, trust, secrets, what can be imported, the service."""

from starlette.responses import Response

from memfs.core import parts
from memfs.core.errors import RejectedError
from memfs.core.formats import format_count
from memfs.ops import doctor, purge, service, trust
from memfs.web.rendering import Visit, get, post


def _show_health(visit: Visit) -> Response:
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


def _fix_findings(visit: Visit) -> Response:
    done = doctor.fix(visit.place, visit.site.home)
    for each in done:
        visit.say(each.text, "done" if each.level == "ok" else "refused")
    if not done:
        visit.say("nothing to fix")
    return visit.redirect("health")


def _switch_service(visit: Visit) -> Response:
    if visit.form.get("to") == "stop":
        service.stop()
        visit.say("the service has stopped")
    else:
        service.start()
        visit.say("the service is running")
    return visit.redirect("health")


def _show_trust(visit: Visit) -> Response:
    report = trust.review_store(visit.place)
    return visit.render("trust.html", "health", "Trust", report=report)


def _revoke_trust(visit: Visit) -> Response:
    """Trust the store no more. A store is trusted by a person at a terminal, and by no browser."""
    if visit.form.get("to") != "revoke":
        raise RejectedError(
            "you cannot trust a store on this page", "run memfs trust in your own terminal"
        )
    trust.revoke(visit.place)
    visit.say("this store is no longer trusted; hooks do not use it")
    return visit.redirect("health/trust")


def _show_secrets(visit: Visit) -> Response:
    scan = purge.find(visit.place, visit.site.home)
    return visit.render("secrets.html", "health", "Secrets", scan=scan)


def _redact_secrets(visit: Visit) -> Response:
    done = purge.run(visit.place)
    visit.say(f"redacted {format_count(len(done.done), 'secret')}; {len(done.left):,} left")
    return visit.redirect("health/secrets")


def _list_imports(visit: Visit) -> Response:
    found = parts.load("importers.importing").list_tools(visit.site.home)
    return visit.render("imports.html", "health", "Other tools", found=found)


ROUTES = [
    get("/health", _show_health),
    post("/health/fix", _fix_findings),
    post("/health/service", _switch_service),
    get("/health/trust", _show_trust),
    post("/health/trust", _revoke_trust),
    get("/health/secrets", _show_secrets),
    post("/health/secrets", _redact_secrets),
    get("/health/imports", _list_imports),
]
