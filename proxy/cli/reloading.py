"""Policies and catalogues are taken up while the proxy serves: on SIGHUP, and when a file or catalogue changes.

A policy is taken whole or not at all. What is wrong with a new one is logged, and the one in force stays until
the file is mended; `dp.policy` tells of it. Statements that have begun end as they were planned.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from proxy.cli.assembly import Database
from proxy.cli.certificates import CertificateWatch
from proxy.cli.cli_error import CliError
from proxy.cli.findings_report import located_findings
from proxy.cli.loading import CheckedPolicy, load_policy, log_findings, verdict_of
from proxy.cli.publication_checks import refuse_problems, unpublishable_because
from proxy.doctor.installed_postgres import Installation
from proxy.engine.role_readiness import RoleReadiness
from proxy.ledger.admin_log import append_event_once
from proxy.ledger.ledger_lease import BudgetsAwaited
from proxy.ledger.ledger_sources import SourceError, UnknownSource, find_source, read_identity
from proxy.ledger.noted_columns import later_columns, remade_unit_columns
from proxy.policy.change_words import weakened
from proxy.policy.finding_names import Severity
from proxy.policy.findings import Verdict
from proxy.policy.policy_changes import policy_changes
from proxy.policy.policy_model import Policy
from proxy.policy_file.policy_errors import PolicyErrors
from proxy.policy_file.policy_yaml import locate
from proxy.postgres.failure_reason import reason_of
from proxy.protected.judged_rows import CatalogueMoved, RowsWithheld
from proxy.protected.source_secrets import only_secrets_differ
from proxy.shadow.shadow_tables import ShadowBusy, ShadowError

# What the administrators' log is told of policies taken or refused: digests and keys, no text of one.

_BY = "dpproxy: policy file"
_SHORT = 12
_LISTED = 50


def note_taken(ledger_dsn: str, before: Policy, taken: Policy) -> None:
    """That a policy came in force, by itself or since somebody asked; and where it protects people less."""
    points = weakened(policy_changes(before, taken))
    detail = {
        "database": taken.database,
        "before": before.digest[:_SHORT],
        "digest": taken.digest[:_SHORT],
        "weaker": len(points),
        "points": list(points[:_LISTED]),
    }
    _note(ledger_dsn, "policy taken", detail)


def note_refused(ledger_dsn: str, in_force: Policy, digest: str) -> None:
    """That a file was not taken. Why, is in the log of the process and on the page of the policy."""
    detail = {
        "database": in_force.database,
        "in_force": in_force.digest[:_SHORT],
        "refused": digest[:_SHORT],
    }
    _note(ledger_dsn, "policy refused", detail)


def _note(ledger_dsn: str, what: str, detail: Mapping[str, Any]) -> None:
    try:
        append_event_once(ledger_dsn, _BY, what, detail)
    except Exception as error:  # whatever it was, what is in force is whole
        name = detail["database"]
        _log.error("policy_change_not_noted", database=name, what=what, reason=reason_of(error))


POLL_SECONDS = 1.0
# After an attempt that failed. Statements of others may wait while a change is tried, so the pauses grow.
RETRY_SECONDS = (1.0, 2.0, 4.0, 8.0, 10.0)
# So many attempts let transactions of analysts end by themselves. The next one insists: who is in its way is
# ended at once, and nobody logs in until it is taken, so that who was ended is not back before (ADR 0093).
PATIENT_ATTEMPTS = 2
INSISTING_SECONDS = 60.0  # then logins are let in, and it begins anew
_INSISTING_PAUSE = 1.0
_TOLD_SECONDS = 5.0  # the log does not say the same again within them
_LOGGED_PROBLEMS = 5

_log = structlog.get_logger("dpproxy.reloading")


class NotTaken(Exception):
    """A policy stays out of force. reason: for the log; problems: places of the file."""

    def __init__(
        self,
        reason: str,
        problems: Sequence[str] = (),
        *,
        for_now: bool = False,
        is_busy: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.problems = tuple(problems)
        self.for_now = for_now  # it may be taken later as it is
        self.is_busy = is_busy  # transactions of analysts are in its way


@dataclass(slots=True)
class PolicyWatch:
    """One database and the file of its policy. environment: as of PolicyReloads;
    verdict: on the policy in force, as it was logged; None: nothing was; text: of the policy in force;
    before: what was in force before the last change, digest and text; logins: held while a change insists."""

    database: Database
    file: Path
    environment: Mapping[str, str]
    verdict: Verdict | None = None
    text: str = ""
    logins: RoleReadiness = field(default_factory=RoleReadiness)
    _displayed: object = None  # of the file, when it was looked at last
    _settled: bool = True
    _tried: str = ""  # what was refused: nobody is told twice
    _told_at: float = -math.inf  # when the log said it last
    _retry_at: float = 0.0
    _retries: int = 0
    _busy_attempts: int = 0
    _insists_until: float = -math.inf
    _pending: bool = False
    _looks: int = 0
    refusal: str = ""  # why what is in the file is not in force
    before: tuple[str, str] | None = None

    def look(self, now: float, *, at_once: bool = False) -> None:
        """Takes the policy up where file or catalogue have changed. A file is read once it has been left alone
        from one look to the next.

        Given    at_once: whatever has changed (SIGHUP)
        """
        self._report()  # again, where it could not be written before
        observed = _signature(self.file)
        if self._displayed is None:
            self._displayed = observed
        if observed != self._displayed:
            self._displayed, self._settled = observed, False
            if not at_once:
                return
        due = self._pending and now >= self._retry_at
        # What makes a finding of a policy can come with the database alone: it is judged again by each look.
        if at_once or not self._settled or due or self.database.looks != self._looks:
            self._settled, self._looks = True, self.database.looks
            if not self._pending:
                self._retries = self._busy_attempts = 0
            self._insist(now)
            try:
                self._take(now, is_reported=at_once)
            finally:
                self._desist(now)

    def _insist(self, now: float) -> None:
        if self._busy_attempts < PATIENT_ATTEMPTS:
            return
        name = self.database.policy.database
        if self.logins.hold(name):
            self._insists_until = now + INSISTING_SECONDS
            _log.warning("logins_wait_for_policy", database=name)

    def _desist(self, now: float) -> None:
        """Unless the change is to be tried again soon, also where its server starts itself again meanwhile."""
        if self._pending and now < self._insists_until:
            return
        if now >= self._insists_until > -math.inf:
            self._busy_attempts = 0
        self._insists_until = -math.inf
        self.logins.release(self.database.policy.database)

    def _take(self, now: float, *, is_reported: bool) -> None:
        name = self.database.policy.database
        before = self.database.policy.digest
        self._pending = False
        served = self.database.policy, self.database.catalog
        try:
            checked, verdict = self._checked()
            if (checked.policy, checked.catalog) != served:
                self._adopt(checked)
            self._keep_text(before, checked)
            self.database.note_columns(checked.catalog)
        except NotTaken as refused:
            self._refuse(refused, now, is_reported=is_reported)
        except Exception as error:  # whatever it was, the policy in force is whole
            self.give_up(error, now, is_reported=is_reported)
        else:
            if (checked.policy, checked.catalog) == served:
                self._forget_refusal()
            else:
                self._tried = self.refusal = ""
                self._report()
                _log.warning(
                    "policy_taken",
                    database=name,
                    file=str(self.file),
                    digest=checked.policy.digest[:12],
                    before=before[:12],
                )
                if checked.policy.digest != before:
                    note_taken(self.database.lease.ledger_dsn, served[0], checked.policy)
            log_findings(name, verdict, self.verdict)
            self.verdict = verdict

    def _keep_text(self, before: str, checked: CheckedPolicy) -> None:
        """Keep the text of what is in force: the file can say something else a moment later."""
        if self.text and self.database.policy.digest != before:
            self.before = before, self.text
        self.text = checked.text

    def _forget_refusal(self) -> None:
        """Whatever was wrong with the file or the database is mended; the policy in force is the file's."""
        if self.refusal:
            _log.warning(
                "policy_in_force_again",
                database=self.database.policy.database,
                file=str(self.file),
                digest=self.database.policy.digest[:12],
            )
        self._tried = self.refusal = ""
        self._report()

    def give_up(self, error: Exception, now: float, *, is_reported: bool) -> None:
        """Note that file or catalogue could not be looked at. The next look tries again.

        Args:
            error: Its text may quote data, so that only its type and a reason from our own list are told.
            now: As of `look`.
            is_reported: Whether the log says it, although it has said the same before.
        """
        kind, reason = type(error).__name__, reason_of(error)
        refused = NotTaken(f"it could not be looked at ({kind}: {reason})", for_now=True)
        self._refuse(refused, now, is_reported=is_reported)

    def _refuse(self, refused: NotTaken, now: float, *, is_reported: bool) -> None:
        pause = RETRY_SECONDS[min(self._retries, len(RETRY_SECONDS) - 1)]
        if now < self._insists_until:
            pause = _INSISTING_PAUSE
        self._pending, self._retry_at = refused.for_now, now + pause
        self._retries += 1
        self._busy_attempts += refused.is_busy
        attempt = f"{_digest(self.file)} {refused.reason} {refused.problems}"
        is_old = now - self._told_at >= _TOLD_SECONDS
        if attempt != self._tried or (is_reported and is_old):
            self._told_at = now
            _log.error(
                "policy_not_taken",
                database=self.database.policy.database,
                file=str(self.file),
                in_force=self.database.policy.digest[:12],
                reason=refused.reason,
                problems=list(refused.problems),
            )
        if attempt != self._tried and not refused.for_now:
            dsn = self.database.lease.ledger_dsn
            note_refused(dsn, self.database.policy, _digest(self.file))
        self._tried = attempt
        self.refusal = ": ".join(filter(None, (refused.reason, "; ".join(refused.problems))))
        self._report()

    def _report(self) -> None:
        """Have dp.policy say whether a change waits."""
        try:
            self.database.report(is_newer_there=bool(self.refusal))
        except ShadowError as error:
            name = self.database.policy.database
            _log.error("policy_not_reported", database=name, reason=str(error))

    def _checked(self) -> tuple[CheckedPolicy, Verdict]:
        served = self.database.policy
        try:
            checked = load_policy(self.file, self.environment)
        except PolicyErrors as errors:
            raise NotTaken(_errors(errors), _listed(errors)) from None
        except CliError as error:
            raise NotTaken(str(error), for_now=True) from None
        policy = checked.policy
        if policy.database != served.database:
            raise NotTaken(f"it is for the database {policy.database}: that takes a new start")
        if policy.source != served.source and not only_secrets_differ(policy.source, served.source):
            raise NotTaken("its source is another: that takes a new start")
        lease = self.database.lease
        try:
            source = find_source(lease.ledger_dsn, read_identity(policy.source), policy.database)
        except (SourceError, UnknownSource):
            source = None
        if source is None or source.id != lease.source:
            raise NotTaken("its source holds other data than at the start: that takes a new start")
        try:
            verdict = self.database.take_verdict(policy, checked.catalog)
            verdict = verdict or verdict_of(checked, self.database.installation)
        except CliError as error:
            raise NotTaken(str(error), for_now=True) from None
        if verdict.refuses:
            severe = located_findings(verdict, checked.text, checked.file)
            count = len(verdict.of(Severity.SEVERE))
            raise NotTaken(f"{count} severe finding{'s'[: count != 1]}", _listed(severe))
        later = later_columns(lease.ledger_dsn, lease.source, policy, checked.catalog)
        if later:
            problems = locate([one.problem for one in later], checked.text, checked.file)
            raise NotTaken("columns of public tables came later", _listed(problems))
        remade = remade_unit_columns(lease.ledger_dsn, lease.source, policy, checked.catalog)
        if remade:
            problems = locate([one.problem for one in remade], checked.text, checked.file)
            raise NotTaken("columns of units are others", _listed(problems))
        return checked, verdict

    def _adopt(self, checked: CheckedPolicy) -> None:
        try:
            self.database.adopt(checked.policy, checked.catalog, partial(refuse_problems, checked))
        except PolicyErrors as errors:
            # Their messages quote statements that are published, whose literals may be about people.
            texts = [one.sql for one in checked.policy.publish]
            places = [
                f"{p.line}:{p.column}: {unpublishable_because(p.message, texts)}"
                for p in errors.problems
            ]
            raise NotTaken(_errors(errors), places[:_LOGGED_PROBLEMS]) from None
        except RowsWithheld as error:  # found since the verdict
            raise NotTaken(f"severe findings: {error}", for_now=True) from None
        except ShadowBusy as error:
            raise NotTaken(str(error), for_now=True, is_busy=True) from None
        except (BudgetsAwaited, CatalogueMoved) as error:
            raise NotTaken(str(error), for_now=True) from None
        except Exception as error:  # whatever it was, the policy in force is whole
            kind, reason = type(error).__name__, reason_of(error)
            raise NotTaken(
                f"it could not be put in force ({kind}: {reason})", for_now=True
            ) from error


def _errors(errors: PolicyErrors) -> str:
    count = len(errors.problems)
    return f"{count} error{'s'[: count != 1]} in the file"


def _listed(errors: PolicyErrors) -> list[str]:
    problems = [f"{p.line}:{p.column}: {p.message}" for p in errors.problems]
    return problems[:_LOGGED_PROBLEMS]


class PolicyReloads:
    """
    Given    databases, and their policies as they were read at the start, in their order; environment: secrets
             of sources, looked up anew each time; installation: as at the start; logins: as of PolicyWatch;
             certificate: what is looked at together with them
    """

    def __init__(
        self,
        databases: Sequence[Database],
        policies: Sequence[CheckedPolicy],
        environment: Mapping[str, str],
        installation: Installation | None = None,
        logins: RoleReadiness | None = None,
        certificate: CertificateWatch | None = None,
    ) -> None:
        self._certificate = certificate
        for database in databases:
            database.installation = installation
        self._watches = [
            PolicyWatch(
                *(database, Path(policy.file), environment, policy.verdict, policy.text),
                logins or RoleReadiness(),
            )
            for database, policy in zip(databases, policies, strict=True)
        ]
        self._turn = asyncio.Lock()

    async def follow(self, every_seconds: float = POLL_SECONDS) -> None:
        """Until it is cancelled. SIGHUP looks at once, whatever has changed."""
        with _hang_ups() as signalled:
            while True:
                at_once = signalled.is_set()
                signalled.clear()
                await self._look(at_once=at_once)
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(signalled.wait(), every_seconds)

    async def reload(self) -> Mapping[str, Any]:
        """As SIGHUP, for the administrators' API: which policies are in force then, and why others are not."""
        await self._look(at_once=True)
        found = [
            {
                "database": watch.database.policy.database,
                "digest": watch.database.policy.digest,
                "not_taken": watch.refusal or None,
            }
            for watch in self._watches
        ]
        return {"policies": found}

    @property
    def watches(self) -> Mapping[str, PolicyWatch]:
        return {watch.database.policy.database: watch for watch in self._watches}

    @property
    def are_taken(self) -> bool:
        """Whether what the files say is in force."""
        return not any(watch.refusal or watch.database.open_findings for watch in self._watches)

    async def _look(self, *, at_once: bool) -> None:
        loop = asyncio.get_running_loop()
        async with self._turn:
            if self._certificate is not None:
                self._certificate.look(at_once=at_once)
            for watch in self._watches:
                try:
                    has_looked = at_once and await asyncio.to_thread(_looks_for_changes, watch)
                    await asyncio.to_thread(watch.look, loop.time(), at_once=at_once)
                    if at_once and not has_looked:  # by the secret of the source that it has by now
                        await asyncio.to_thread(watch.database.look_for_changes)
                except Exception as error:  # one look that fails must not be the last
                    watch.give_up(error, loop.time(), is_reported=at_once)


def _looks_for_changes(watch: PolicyWatch) -> bool:
    """Whether it could: where the source has another password by now, its file says which."""
    try:
        watch.database.look_for_changes()
    except Exception as error:
        name, kind = watch.database.policy.database, type(error).__name__
        _log.warning("catalogue_not_read", database=name, kind=kind, reason=reason_of(error))
        return False
    return True


@contextlib.contextmanager
def _hang_ups() -> Iterator[asyncio.Event]:
    signalled = asyncio.Event()
    if not hasattr(signal, "SIGHUP"):  # Windows
        yield signalled
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, signalled.set)
    try:
        yield signalled
    finally:
        loop.remove_signal_handler(signal.SIGHUP)


def _signature(file: Path) -> object:
    """Changes with the file, also where a link to it is turned to another."""
    try:
        found = file.stat()
    except OSError:
        return "gone"
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_ctime_ns


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return "gone"
