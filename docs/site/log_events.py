"""The events of the server's log: found in the source with their fields, and what each tells."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from proxy.shadow.ending_sessions import StuckSession
from proxy.shadow.shadow_monitor import Ended

_SOURCE = Path(__file__).parents[2] / "proxy"
_LEVELS = ("debug", "info", "warning", "error", "critical")
_EVENT = re.compile(r"[a-z]+(_[a-z]+)+")

# What each tells, and what to do where something is to be done.
MEANINGS: Mapping[str, str] = {
    "administrators_changed": "`--admin-secrets` has other names; sessions of those that are gone end.",
    "administrators_not_read": "That file cannot be read. Those of before stay.",
    "analysts_changed": "Roles of the shadow were made, changed or removed, as the ledger has them.",
    "analysts_not_matched": "Some roles could not be changed: `failed` has their names and why.",
    "analysts_not_read": "The ledger did not say who the analysts are. It is asked again.",
    "audit_failed": "An audit that an administrator began has ended without a result.",
    "budget_nearly_spent": "A budget is spent to 80 % or more, once for each budget and window.",
    "catalogue_not_read": "The protected database did not say what its tables are like. It is asked again.",
    "certificate_not_taken": "The new certificate or key does not fit. The one of before is shown.",
    "certificate_taken": "New connections are shown the new certificate.",
    "fault": "A step failed for a reason that is not the client's: a server is away, a charge was not written.",
    "finding": "A warning of `dpproxy policy check` about the policy in force.",
    "finding_accepted": "A severe finding that the policy accepts, with its `reason`.",
    "guard_not_verified": "The guards of a shadow cannot be looked at now. It is tried again.",
    "guard_repaired": "A guard in the shadow was not as it is made, and was made again.",
    "inner_role_not_made": "The role of a token or certificate could not be made in the shadow.",
    "keys_not_fetched": "The OpenID Connect provider did not give its keys.",
    "lease_lost": "Another server has the budgets of this database: nothing is charged here.",
    "lease_not_taken": "The lease on the budgets cannot be taken again yet.",
    "lease_taken_again": "Statements are charged here again.",
    "let_go_failed": "A cached answer that is not wanted any more could not be removed.",
    "library_log": "What a library would have logged, by its name, without values.",
    "locks_not_watched": "What clients of the protected database wait for cannot be looked at.",
    "login": "Somebody was let in. `by`: a token, or an administrator's secret.",
    "login_failed": "A wrong name, password or token; `delay`: seconds that the answer waited.",
    "logins_wait_for_policy": "A new policy is being taken, and logins to its database wait for it.",
    "mark_not_read": "The last mark of the ledger could not be compared.",
    "mark_not_written": "The last mark of the ledger could not be written.",
    "metrics_not_read": "Numbers of `/metrics` are older than 15 s.",
    "no_control_socket": "`dpproxy status` cannot ask this server.",
    "no_protected_session_free": "A statement waited too long for a session on the protected server.",
    "nodes_have_other_settings": "Citus: the settings of the nodes differ. `remedy` says which.",
    "people_not_read": "The ledger did not say who may query what. Those of before stay.",
    "policy_change_not_noted": "The ledger could not be told that a policy was taken or refused.",
    "policy_in_force_again": "The file of the policy is again as what is in force.",
    "policy_not_reported": "The shadow could not be told which policy is in force.",
    "policy_not_taken": "The new file of the policy has problems. The one of before stays in force.",
    "policy_taken": "A new policy is in force.",
    "protected_connection_lost": "A connection to the protected server ended; the statement is sent once more.",
    "protected_connection_not_ended": "A session on the protected server could not be ended.",
    "protected_server_not_available": "The protected server cannot be reached.",
    "protected_statement_failed": "A query on the protected server failed.",
    "proxy_header_not_expected": "PROXY protocol from an address that is not given as a balancer's.",
    "proxy_header_refused": "A balancer sent no valid header of the PROXY protocol.",
    "public_list_failed": "The public values of a table could not be read.",
    "public_tables_created_again": "Public tables were dropped and created: check that they are public.",
    "public_tables_not_copied": "Not copied again: findings withhold rows, or a server is away.",
    "published": "A published table was drawn.",
    "published_is_no_table": "What was drawn is no table for analysts. `dpproxy publish list` says why.",
    "published_not_a_source": "A published table cannot answer other statements.",
    "published_not_let_go": "The draw of before could not be removed.",
    "published_not_looked_at": "What is due to be drawn could not be looked at. It is tried again.",
    "published_not_presented": "A draw could not be written to the shadow. It is tried again.",
    "published_not_released": "A published table was not drawn: its statement is refused, or a server is away.",
    "published_not_shown": "A draw cannot be decrypted: the key of the ledger is another one.",
    "published_stale": "A published table is not drawn anew, as a budget does not cover it.",
    "query": "A statement on protected tables has ended; with `--log-queries protected`.",
    "query_lines_lost": "So many `query` lines were not written: too many statements ended at once.",
    "request": "A request over HTTP has an answer. No address with names or statements is logged.",
    "reserve_failed": "A charge was not written, so nothing was read.",
    "server_ended": "One of dpproxy's own PostgreSQL servers has ended.",
    "server_not_started": "It cannot be started again yet.",
    "server_started_again": "It serves again.",
    "session_does_not_end": "A session of the shadow that uses too much was told to end, and does not.",
    "session_ended": "A client of the wire is gone.",
    "session_ended_by_server": "The shadow ended a session of an HTTP request.",
    "session_ended_by_share": "A session that used more than its share of memory, disk or locks was ended.",
    "session_started": "A client of the wire is let in and may send statements.",
    "sessions_ended": "So many sessions ended, as their analysts lost their access.",
    "settle_failed": "What became of charges was not written. They stay charged.",
    "shadow_is_not_separated": "The shadow runs as the system user of dpproxy: see the lines of the start.",
    "shadow_protocol_broken": "The shadow sent what is no message. The session was ended.",
    "shadow_restarts_without_session": "The shadow's server starts again to be rid of a session.",
    "shadow_unreachable": "A client could not be connected to the shadow.",
    "shadows_not_rebuilt": "The shadows cannot be built again yet.",
    "shadows_rebuilt": "The shadow's server was away. The shadows were built again, and sessions ended.",
    "shares_not_read": "What sessions of the shadow use could not be looked at.",
    "statement_not_planned": "The protected server could not plan a query.",
    "statement_not_understood": "The protected server does not take a query that was compiled for it.",
    "status_not_told": "A question of `dpproxy status` could not be answered.",
    "tables_changed": "These tables lost what plans rely on. They cannot be asked until it is there again.",
    "tables_of_units_created_again": "Tables with identifiers of people were dropped and created again.",
    "time_zone_failed": "The protected server did not say what an offset of a time zone is.",
    "copies_not_found": "The protected server did not say which prepared copies there are.",
    "tls_failed": "A client's TLS handshake failed.",
    "token_not_read": "A token of OpenID Connect could not be judged.",
    "token_refused": "A token of OpenID Connect is not valid.",
    "unexpected_error": "An error that nobody has thought of, with its place and without its text. Report it.",
    "worker_ended": "A worker process has ended. It is started again.",
    "worker_not_answering": "A worker did not answer another in time.",
    "worker_started_again": "A worker process serves again.",
    "worker_stays_down": "A worker ended too often. The others serve.",
}

# Fields that are made elsewhere than in the call.
MORE_FIELDS: Mapping[str, tuple[str, ...]] = {
    "budget_nearly_spent": ("name",),
    "fault": (),  # a fault may bring texts and digests of its own
    "lease_not_taken": ("database",),
    "library_log": ("text", "kind"),
    "login": ("by",),
    "public_tables_not_copied": ("findings",),
    "query": (
        *("at", "database", "listener", "analyst", "outcome", "source", "code", "kinds", "tables"),
        *("seconds", "fingerprint", "receipt", "epsilon", "delta", "rho"),
    ),
    "server_not_started": (),
    "session_does_not_end": tuple(one.name for one in fields(StuckSession)),
    "session_ended_by_share": tuple(one.name for one in fields(Ended)),
    "shadow_restarts_without_session": tuple(one.name for one in fields(StuckSession)),
    "shadows_not_rebuilt": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEvent:
    """has_more: the call has fields that are made elsewhere."""

    name: str
    levels: tuple[str, ...]
    fields: tuple[str, ...]
    has_more: bool


@functools.cache
def log_events() -> Mapping[str, LogEvent]:
    """Every event that code of the server logs, by its name."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(_SOURCE.rglob("*.py"))]
    found: dict[str, LogEvent] = {}
    for text in texts:
        for one in _events(_tree(text), texts) if "structlog" in text else ():
            before = found.get(one.name, one)
            found[one.name] = replace(
                one,
                levels=tuple(dict.fromkeys((*before.levels, *one.levels))),
                fields=tuple(dict.fromkeys((*before.fields, *one.fields))),
                has_more=before.has_more or one.has_more,
            )
    return dict(sorted(found.items()))


@functools.cache
def _tree(text: str) -> ast.Module:
    return ast.parse(text)


def _events(tree: ast.Module, texts: Sequence[str]) -> Iterator[LogEvent]:
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        level = call.func.attr
        if level not in (*_LEVELS, "log") or not _is_log(call.func.value):
            continue
        named = [one.arg for one in call.keywords if one.arg is not None]
        for name in _names(call.args[level == "log"], tree, texts):
            yield LogEvent(
                name=name,
                levels=(level,) if level in _LEVELS else ("warning", "error"),
                fields=tuple(named),
                has_more=len(named) < len(call.keywords),
            )


def _is_log(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "structlog.get_logger"
    return isinstance(node, ast.Name) and node.id.lower() in ("_log", "log")


def _names(event: ast.expr, tree: ast.Module, texts: Sequence[str]) -> Iterator[str]:
    """The texts that an event can be: a variable of a loop over them, or an argument that callers give."""
    if isinstance(event, ast.Constant):
        yield str(event.value)
        return
    assert isinstance(event, ast.Name), "an event is a text or a variable"
    loops = [
        one for one in ast.walk(tree) if isinstance(one, ast.For) and _has(one.target, event.id)
    ]
    takers = {
        one.name
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
        and event.id in (argument.arg for argument in one.args.args)
    }
    for one in loops:
        yield from _texts(one.iter)
    for text in texts if takers else ():
        if not any(f"{taker}(" in text for taker in takers):
            continue
        for call in ast.walk(_tree(text)):
            if isinstance(call, ast.Call) and _called(call.func) in takers:
                for argument in call.args:
                    yield from _texts(argument)


def _called(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _has(target: ast.expr, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(target))


def _texts(node: ast.expr) -> Iterator[str]:
    for one in ast.walk(node):
        text = one.value if isinstance(one, ast.Constant) else None
        if isinstance(text, str) and _EVENT.fullmatch(text):
            yield text
