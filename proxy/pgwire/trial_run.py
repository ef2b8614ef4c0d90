"""Runs a statement with made-up answers on the shadow, in a subtransaction that is undone, before the charge.

One round trip, with the session's timeouts on. Errors are PostgreSQL's own and are shown; notices are not.
The shadow's function dp.try_answer decides what can be run twice without effect.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from proxy.pgwire.calls import RunTrial, Trial, TrialResult
from proxy.pgwire.frames import BINARY_FORMAT, FLUSH, TEXT_FORMAT
from proxy.pgwire.held_timeouts import hold, send_hold, send_restored
from proxy.pgwire.rehearsal import array_text
from proxy.pgwire.session import FAILED, Failed, Session, Wait, succeeded
from proxy.pgwire.shadow_exchanges import rows_of, run
from proxy.pgwire.wording import Wording

# text[], integer[], oid[], name[], name[], text[], text, text, boolean, text
_OWN_OIDS = (1009, 1007, 1028, 1003, 1003, 1009, 25, 25, 16, 25)
_NOT_PLACED = Wording(has_position=False)


def run_trial(
    session: Session, step: RunTrial, result_formats: Sequence[int]
) -> Generator[Wait, Any, bool | Failed]:
    """
    Given    result_formats: of the client's Bind. Types of single columns are looked at by the rehearsal
    """
    trial, ends_transaction = step.trial, not step.arguments.in_block
    if trial.result is TrialResult.TEXT and set(result_formats) == {BINARY_FORMAT}:
        trial = replace(trial, result=TrialResult.BINARY)
    send_restored(session)
    values, formats = step.arguments.values, step.arguments.formats
    formats = formats * len(values) if len(formats) == 1 else formats
    own_texts = trial_values(trial, step.parameter_oids, ends_transaction=ends_transaction)
    own = [text.encode() for text in own_texts]
    asked = run(
        trial_sql(len(step.parameter_oids)).encode(),
        trial_oids(step.parameter_oids),
        (*values, *own),
        (*formats, *(TEXT_FORMAT for _ in own)) if formats else (),
    )
    reply = session.send_all(asked, wording=_NOT_PLACED)
    last = send_hold(session)
    session.to_shadow.append(FLUSH)
    yield last
    if not succeeded(last):
        return FAILED
    hold(session, last)
    return rows_of(reply)[0][0] == b"t"


def trial_oids(parameter_oids: Sequence[int]) -> tuple[int, ...]:
    return (*parameter_oids, *_OWN_OIDS)


def trial_sql(count: int) -> str:
    """
    Given    count: of the statement's parameters without the relation; they come first

    >>> trial_sql(1)[:78]
    'SELECT dp.try_answer($2, $3, ARRAY[$1::pg_catalog.text]::pg_catalog.text[], $4'
    """
    given = ", ".join(f"${number}::pg_catalog.text" for number in range(1, count + 1))
    own = [f"${number}" for number in range(count + 1, count + 1 + len(_OWN_OIDS))]
    values = f"ARRAY[{given}]::pg_catalog.text[]"
    return f"SELECT dp.try_answer({', '.join((*own[:2], values, *own[2:]))})"


def trial_values(
    trial: Trial, parameter_oids: Sequence[int], *, ends_transaction: bool
) -> tuple[str, ...]:
    """The arguments behind the statement's own, in text format."""
    return (
        array_text(trial.pieces),
        "{" + ",".join(map(str, trial.numbers)) + "}",
        "{" + ",".join(map(str, parameter_oids)) + "}",
        array_text(trial.called),
        array_text(trial.words),
        array_text(trial.relations),
        trial.result.value,
        trial.encoding,
        "t" if ends_transaction else "f",
        trial.hint,
    )
