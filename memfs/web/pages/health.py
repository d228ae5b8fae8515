"""Health: what doctor finds and fixes, trust, secrets, what can be imported, the service."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memfs.core import parts
from memfs.core.errors import RejectedError
from memfs.ops import doctor, purge, service, trust
from memfs.web.rendering import get_form, get_project, get_site, redirect, render, show_errors


@show_errors
def show_health(request: Request) -> Response:
    """Show what doctor finds, and the service."""
    found = doctor.run(get_project(request).find_place(), get_site(request).home)
    order = {"error": 0, "warning": 1, "ok": 2}
    return render(
        request,
        "health.html",
        "health",
        "Health",
        findings=sorted(found, key=lambda each: order[each.level]),
        wrong=sum(each.level != "ok" for each in found),
        service=service.load_status(),
    )


@show_errors
def fix_findings(request: Request) -> Response:
    """Fix what can be fixed without losing a byte."""
    done = doctor.fix(get_project(request).find_place(), get_site(request).home)
    for each in done:
        get_site(request).say(each.text, "done" if each.level == "ok" else "refused")
    if not done:
        get_site(request).say("there is nothing that can be fixed from here")
    return redirect(request, "health")


@show_errors
def switch_service(request: Request) -> Response:
    """Start or stop the service."""
    if get_form(request).get("to") == "stop":
        service.stop()
        get_site(request).say("the service has stopped")
    else:
        service.start()
        get_site(request).say("the service runs")
    return redirect(request, "health")


@show_errors
def show_trust(request: Request) -> Response:
    """Show what assistants would be given of the project's store, and what may steer them."""
    report = trust.review_store(get_project(request).find_place())
    return render(request, "trust.html", "health", "Trust", report=report)


@show_errors
def revoke_trust(request: Request) -> Response:
    """Trust the store no more. What trusts it is a person at a terminal, and no browser is one."""
    if get_form(request).get("to") != "revoke":
        raise RejectedError(
            "the page cannot trust a store", "run memfs trust in a terminal of your own"
        )
    trust.revoke(get_project(request).find_place())
    get_site(request).say("this store is no longer trusted: hooks do not use it")
    return redirect(request, "health/trust")


@show_errors
def show_secrets(request: Request) -> Response:
    """Scan for secrets, and show where they are, masked."""
    scan = purge.find(get_project(request).find_place(), get_site(request).home)
    return render(request, "secrets.html", "health", "Secrets", scan=scan)


@show_errors
def redact_secrets(request: Request) -> Response:
    """Redact the secrets in files of ours."""
    done = purge.run(get_project(request).find_place())
    get_site(request).say(f"{len(done.done):,} secrets are redacted, {len(done.left):,} are left")
    return redirect(request, "health/secrets")


@show_errors
def list_imports(request: Request) -> Response:
    """Show what other tools on this machine remember, and how it would be imported."""
    found = parts.load("importers.importing").list_tools(get_site(request).home)
    return render(request, "imports.html", "health", "Other tools", found=found)


ROUTES = [
    Route("/health", show_health),
    Route("/health/fix", fix_findings, methods=["POST"]),
    Route("/health/service", switch_service, methods=["POST"]),
    Route("/health/trust", show_trust),
    Route("/health/trust", revoke_trust, methods=["POST"]),
    Route("/health/secrets", show_secrets),
    Route("/health/secrets", redact_secrets, methods=["POST"]),
    Route("/health/imports", list_imports),
]
