"""The engine in the vocabulary of the relay's state machine."""

from __future__ import annotations

from proxy.base.decimals import decimal_text
from proxy.base.errors import FAULT_HINT, Fault, Refusal
from proxy.engine.answering import Answer
from proxy.engine.asking import Engine
from proxy.engine.questions import Question
from proxy.engine.rehearsing import goes_to_the_server, rehearsal
from proxy.engine.residual import residual_text
from proxy.pgwire.calls import (
    Answered,
    Ask,
    ExecutePrepared,
    Inspect,
    Read,
    Refuse,
    Substitute,
    Verbatim,
)
from proxy.query.syntax.statements import Execute, Kind, Statement, prepared_query


class EngineBrain:
    """One database's answers to what the relay asks (proxy.servers.wire.brain.Brain)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def split(self, text: str) -> tuple[tuple[int, str], ...]:
        return self._engine.split(text)

    def look(self, text: str) -> Verbatim | Inspect | ExecutePrepared | Refuse:
        try:
            found = self._engine.look(text)
        except Refusal as refusal:
            return _refuse(refusal)
        match found:
            case None:
                return Verbatim()
            case Execute():
                return ExecutePrepared(found.name, found.arguments)
            case Statement():
                return Inspect(found.relations, found.analysed_text(), found)

    def prepared(self, source: str, name: str) -> str | Refuse | None:
        try:
            return prepared_query(source, name)
        except Refusal as refusal:
            return _refuse(refusal)

    def read(self, read: Read) -> Verbatim | Substitute | Refuse:
        statement = read.handle
        assert isinstance(statement, Statement)
        try:
            question = self._engine.read(
                statement, read.relation_oids, read.parameter_oids, read.settings
            )
        except Refusal as refusal:
            return _refuse(refusal)
        if question is None:
            return Verbatim()
        reading = question.reading
        if statement.kind is Kind.EXPLAIN and not question.reads_nothing:
            text = residual_text(question)
            return Substitute(text, reading.relation_parameter, False, question, "EXPLAIN")
        if goes_to_the_server(statement):
            return Verbatim()
        literal = statement.kind is Kind.COPY
        return Substitute(
            reading.text,
            reading.relation_parameter,
            literal,
            question,
            needs_block=statement.needs_transaction,
            rehearsal=rehearsal(statement, reading, read.columns),
        )

    async def ask(self, analyst: str, ask: Ask) -> Answered | Refuse:
        question = ask.handle
        assert isinstance(question, Question)
        try:
            answer = await self._engine.ask(question, ask.arguments, ask.settings, analyst)
        except Refusal as refusal:
            return _refuse(refusal)
        except Fault as fault:
            return Refuse(fault.code.sqlstate, fault.message, FAULT_HINT, None)
        inlined = None
        if question.statement.kind is Kind.COPY:
            inlined = question.reading.inlined(answer.relation)
        return Answered(answer.relation, _notice(answer) if answer.notice else None, inlined)


def _refuse(refusal: Refusal) -> Refuse:
    return Refuse(refusal.code.sqlstate, refusal.message, refusal.hint, refusal.position)


def _notice(answer: Answer) -> str:
    """What the answer cost, what is left, and how far each aggregate may be off."""
    spent = f"epsilon {decimal_text(answer.loss.epsilon)}, delta {float(answer.loss.delta):.3g}"
    left = (
        "" if answer.remaining is None else f"; left: epsilon {float(answer.remaining.epsilon):.6g}"
    )
    errors = ", ".join(
        f"{entry.aggregate} +-{float(entry.error_95):.6g}"
        for entry in answer.accuracy
        if entry.error_95 is not None
    )
    receipt = "" if answer.receipt is None else f"; receipt {answer.receipt}"
    text = f"differential privacy: charged {spent}{left}{receipt}"
    return f"{text}; 95 % error: {errors}" if errors else text
