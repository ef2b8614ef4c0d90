"""Statements read once: what touches protected data, and what it asks. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TypeVar

from proxy.base import limits
from proxy.base.errors import Code, Refusal
from proxy.base.operator_runs import check_runs
from proxy.base.sql_types import SqlType, by_oid
from proxy.base.written_names import written_name
from proxy.catalog.catalog_model import Catalog, TableName
from proxy.engine.session_zone import in_session_zone
from proxy.engine.settings import check_assignment, check_meaning, shows_empty_previews
from proxy.policy.policy_model import (
    IdentifierUnit,
    Mechanism,
    Policy,
    ProtectedTable,
    PublicTable,
)
from proxy.query.bind.evaluated_constants import (
    NOTHING_EVALUATED,
    EvaluatedText,
    evaluated,
    evaluated_texts,
    with_written_texts,
)
from proxy.query.ir.binding import parameters_of
from proxy.query.ir.exposed import Exposed
from proxy.query.rewrite.account_relations import ACCOUNT_RELATIONS
from proxy.query.statement_reading import Reading, evaluated_parts, read_statement
from proxy.query.syntax.assignments import assignment, check_role_statement
from proxy.query.syntax.constant_spans import EXACT_PRESENT, ConstantSpan, PresentRule
from proxy.query.syntax.statements import Execute, Names, Statement, StoredQuery, look, pieces
from proxy.query.unknown_columns import unknown_name_hint, unknown_table_hint

# Which mechanisms a session may choose for AVG, MIN and MAX: those of the policy, and the smoothed median.


def allowed_mechanisms(policy: Policy) -> tuple[Mechanism, ...]:
    """List what SET dp.mechanism may name under a policy, in the order of `Mechanism`.

    The smoothed median is always among them. Of a column that the policy does not give it to, the planner
    refuses another one (planner/measuring.py).
    """
    given = {policy.privacy.mechanism, Mechanism.SMOOTH_MEDIAN}
    for table in policy.protected():
        given |= {one.mechanism for one in table.columns.values() if one.mechanism is not None}
    if Mechanism.AUTO in given:
        given.add(Mechanism.BEST)
    return tuple(one for one in Mechanism if one in given and one is not Mechanism.AUTO)


_EMPTY = (
    "differential privacy: rows of the protected table {table} are not shown, so this preview is empty whatever"
    " the table holds. Use aggregates, e.g. SELECT count(*) FROM {table}; SELECT * FROM dp.columns says what"
    " each column can be used for."
)
_CACHED_STATEMENTS = 128  # of 16 KiB at most; read, each is about a megabyte
_FIRST_MADE_OID = 16_384  # FirstNormalObjectId: of types that a rebuilt shadow has made anew
_CACHED_LONG = 4  # of 48 KiB at most, most of it parameters

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Origin:
    """By whom a question was read, and what its names and constants were found to be: enough to read it again
    under another policy."""

    statements: PolicyStatements
    resolved: tuple[TableName | None, ...]
    constant_oids: tuple[int, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class ProtectedQuery:
    """A statement that asks of protected tables, read once, asked as often as it is bound. It is compared by
    identity: what is made of it is kept by that.

    result_columns: Name and type of each column of its result, where they are known.
    with_errors: Whoever runs it wants the error of each.
    constants: What the shadow evaluates at each run, numbered after the parameters.
    origin: As of Origin.
    """

    statement: Statement
    reading: Reading
    parameter_oids: tuple[int, ...]
    parameter_types: tuple[SqlType, ...]
    result_columns: tuple[tuple[str, int], ...] = ()
    with_errors: bool = False
    constants: tuple[EvaluatedText, ...] = ()
    origin: Origin | None = field(default=None, repr=False)

    @property
    def reads_nothing(self) -> bool:
        """A probe: its text is run on tables without rows, nothing is planned or charged."""
        return not self.reading.query.blocks

    @property
    def why_empty(self) -> tuple[str, ...]:
        """What the analyst is told of a preview, which has no rows whatever there is."""
        if self.reading.preview is None:
            return ()
        return (_EMPTY.format(table=written_name(*self.reading.preview.table)),)

    def argument_types(self) -> tuple[SqlType, ...]:
        """Of what comes with a run: the client's arguments, and what the shadow has evaluated."""
        return (*self.parameter_types, *(one.type for one in self.constants))


@dataclass(frozen=True, slots=True)
class ConstantsNeeded:
    """A statement that is refused as it is, and may be read with these parts evaluated by the shadow."""

    spans: tuple[ConstantSpan, ...]
    refusal: Refusal


class PolicyStatements:
    """What statements ask under one policy."""

    def __init__(
        self,
        policy: Policy,
        catalog: Catalog,
        relations: Mapping[int, TableName],
        read_as: Mapping[int, int] | None = None,
    ) -> None:
        """relations: OID in the shadow -> table of the policy; read_as: OIDs in the shadow of enumerations and
        arrays of them -> of the texts as which their values are read."""
        self.read_as = dict(read_as or {})
        self._privacy = policy.privacy
        self._mechanisms = allowed_mechanisms(policy)
        self._previews = policy.previews
        self._present = EXACT_PRESENT
        if policy.reuse is not None:
            self._present = PresentRule(policy.reuse.step, policy.reuse.present_slots)
        self.relations = dict(relations)
        self._exposed = {
            name: _exposed(name, table, catalog) for name, table in policy.tables.items()
        }
        self._exposed.update(ACCOUNT_RELATIONS)
        self._protected = frozenset(table.name.name for table in policy.protected())
        accounts = {name.name for name in ACCOUNT_RELATIONS}
        names = Names(self._protected | accounts, {name.name for name in policy.tables})
        self._names = names
        self._split = lru_cache(maxsize=_CACHED_STATEMENTS)(partial(pieces, names=names))
        self._look = _cached(self._look_uncached)
        self._read = _cached(self._read_uncached)
        self._read_named = _cached(self._read_named_uncached)

    def split(self, text: str) -> tuple[tuple[int, str], ...]:
        """The statements of a simple query string that must be looked at one by one, with offsets."""
        if len(text) > limits.STATEMENT_BYTES:
            return pieces(text, self._names)
        return self._split(text)

    def look(self, text: str) -> Statement | Execute | StoredQuery | None:
        """Whether a statement can touch protected data. None: relay it.

        Refuses  TOO_COMPLEX; SETTING: SET of a dp.* setting that no statement could be run with; ROLE
        """
        return self._look(text)

    def _look_uncached(self, text: str) -> Statement | Execute | StoredQuery | None:
        check_runs(text)
        check_role_statement(text)
        assigned = assignment(text)
        if assigned is not None:
            check_assignment(assigned.name, assigned.value, self._privacy, self._mechanisms)
            return None
        return look(text, self._names)

    def is_protected(self, table: str) -> bool:
        """Whether a protected table has this name, in whatever schema."""
        return table in self._protected

    def unknown_name_hint(self, statement: Statement, message: str) -> str | None:
        """The hint for PostgreSQL's error that a name does not exist; None: as PostgreSQL has it."""
        return unknown_name_hint(statement, self._exposed, message)

    def unknown_table_hint(self, message: str) -> str | None:
        return unknown_table_hint(self._exposed, message)

    def read(
        self,
        statement: Statement,
        relation_oids: tuple[int | None, ...],
        parameter_oids: tuple[int, ...],
        settings: Mapping[str, str] | None = None,
        with_errors: bool = False,
        constant_oids: tuple[int, ...] | None = None,
    ) -> ProtectedQuery | None:
        """What the statement asks, now that the session has said what its names mean. None: relay it.

        Given    settings: of the session, in which PostgreSQL has read the statement; with_errors: as of
                 read_statement; constant_oids: of the types of `constants_needed`
        Refuses  as query.statement_reading.read_statement; settings by which it means something else; what
                 depends on a time zone that is not known
        """
        question = self._read(statement, relation_oids, parameter_oids, with_errors, constant_oids)
        if isinstance(question, ConstantsNeeded):
            raise question.refusal.at(question.refusal.position)
        if question is not None:
            self.check_preview(question, settings or {})
        # What is only of dp.budget, dp.history and dp.status means the same whatever is set.
        of_data = question is not None and not (
            question.reads_nothing and question.reading.accounts
        )
        if question is not None and of_data and settings is not None:
            check_meaning(settings)
            for block in question.reading.query.blocks:
                in_session_zone(block, settings)
        return question

    def check_preview(self, question: ProtectedQuery, settings: Mapping[str, str]) -> None:
        """Refuse a preview in a session that wants none of no rows.

        Raises:
            Refusal: RAW_ROWS, SETTING.
        """
        preview = question.reading.preview
        if preview is not None and not shows_empty_previews(settings, self._previews):
            raise preview.refusal.at(preview.refusal.position)

    def in_force(self, question: ProtectedQuery) -> ProtectedQuery:
        """The question as this policy reads it. What was read under an earlier one is read again, under the
        names that its session has resolved; the shadow holds its rewritten text, so that has to be the same.

        Refuses  as `read`; UNSUPPORTED: what the shadow holds is another statement now
        """
        origin = question.origin
        if origin is None or origin.statements is self:
            return question
        again = None
        has_tables = all(name is None or name in self._exposed for name in origin.resolved)
        if has_tables and all(oid < _FIRST_MADE_OID for oid in question.parameter_oids):
            again = self._read_named(
                question.statement,
                origin.resolved,
                question.parameter_oids,
                question.with_errors,
                origin.constant_oids,
            )
        if not isinstance(again, ProtectedQuery) or not _is_held(again, question):
            raise Refusal(
                Code.UNSUPPORTED,
                "the policy has changed since this statement was prepared",
                "Prepare it again: close the statement, or connect again.",
            )
        return replace(again, result_columns=question.result_columns)

    def constants_needed(
        self,
        statement: Statement,
        relation_oids: tuple[int | None, ...],
        parameter_oids: tuple[int, ...],
        settings: Mapping[str, str],
        with_errors: bool = False,
    ) -> tuple[str, ...]:
        """Expressions whose types the shadow is asked for before the statement is read; none where it is read,
        or refused, as it stands.

        Given    as of `read`
        Refuses  settings by which the statement means something else; as `read`
        """
        found = self._read(statement, relation_oids, parameter_oids, with_errors, None)
        if not isinstance(found, ConstantsNeeded):
            return ()
        check_meaning(settings)
        return tuple(span.text for span in found.spans)

    def _read_uncached(
        self,
        statement: Statement,
        relation_oids: tuple[int | None, ...],
        parameter_oids: tuple[int, ...],
        with_errors: bool,
        constant_oids: tuple[int, ...] | None,
    ) -> ProtectedQuery | ConstantsNeeded | None:
        resolved = tuple(None if o is None else self.relations.get(o) for o in relation_oids)
        return self._read_named(statement, resolved, parameter_oids, with_errors, constant_oids)

    def _read_named_uncached(
        self,
        statement: Statement,
        resolved: tuple[TableName | None, ...],
        parameter_oids: tuple[int, ...],
        with_errors: bool,
        constant_oids: tuple[int, ...] | None,
    ) -> ProtectedQuery | ConstantsNeeded | None:
        types = tuple(map(self._type, parameter_oids))
        parts = partial(evaluated_parts, statement, resolved, self._exposed, types, self._present)
        found = NOTHING_EVALUATED
        if constant_oids is not None:
            oids = tuple(self.read_as.get(oid, oid) for oid in constant_oids)
            found = evaluated(parts(), oids, len(types))
        try:
            reading = read_statement(statement, resolved, self._exposed, types, with_errors, found)
        except Refusal as refusal:
            spans = parts() if constant_oids is None else ()
            if not spans:
                raise
            return ConstantsNeeded(spans, refusal.at(refusal.position))
        if reading is None:
            return None
        blocks, found = with_written_texts(reading.query.blocks, found, len(types))
        reading = replace(reading, query=replace(reading.query, blocks=blocks))
        used = frozenset[int]().union(*map(parameters_of, blocks))
        texts = evaluated_texts(found, used)
        return ProtectedQuery(
            statement,
            reading,
            parameter_oids,
            types,
            with_errors=with_errors,
            constants=texts,
            origin=Origin(self, resolved, constant_oids),
        )

    def _type(self, oid: int) -> SqlType:
        return by_oid(self.read_as.get(oid, oid))


def _is_held(again: ProtectedQuery, question: ProtectedQuery) -> bool:
    """Whether a statement that was rewritten before is what it would be rewritten to now."""
    new, old = again.reading, question.reading
    return (
        (new.text, new.relation_parameter, new.accounts, new.preview)
        == (old.text, old.relation_parameter, old.accounts, old.preview)
        and again.constants == question.constants
        and again.parameter_types == question.parameter_types
    )


def _exposed(name: TableName, table: ProtectedTable | PublicTable, catalog: Catalog) -> Exposed:
    """The columns that questions can name: the listed ones and, for conditions and joins, the unit column or
    the reference that leads to it (which is not the unit: several of its values belong to one). Of units in
    blocks of time the person, who is several of them. Columns of a type that is not read are in no plan."""
    described = catalog.tables[name]
    read = [column for column in described.columns if column.type is not SqlType.OTHER]
    if isinstance(table, PublicTable):
        displayed = {c.name: c for c in read if table.has(c.name)}
        return Exposed(name, displayed, protected=False, key=described.key_among(displayed))
    held = table.unit.column if isinstance(table.unit, IdentifierUnit) else None
    found = isinstance(table.unit, IdentifierUnit) and not table.unit.is_in_column
    listed = {*table.columns, held}
    displayed = {c.name: c for c in read if c.name in listed}
    key = described.key_among(displayed)
    if found or not isinstance(table.unit, IdentifierUnit):
        return Exposed(name, displayed, key=key)
    return Exposed(name, displayed, True, held, table.unit.identifier, key)


def _cached(function: Callable[..., T]) -> Callable[..., T]:
    """Of what is first given, a text or a statement, few long ones are kept."""
    short = lru_cache(maxsize=_CACHED_STATEMENTS)(function)
    long = lru_cache(maxsize=_CACHED_LONG)(function)

    def call(first: str | Statement, *more: Hashable) -> T:
        text = first if isinstance(first, str) else first.lexed.text
        return (long if len(text) > limits.STATEMENT_BYTES else short)(first, *more)

    return call


# The tables of a policy where no session says what a name means: by the path that sessions have.


def numbered(policy: Policy) -> dict[int, TableName]:
    """Each with a number in the place of an OID."""
    return dict(enumerate(sorted(policy.tables), start=1))


def resolved(statement: Statement, oids: Mapping[int, TableName]) -> tuple[int | None, ...]:
    """What to_regclass would say on the shadow: public first, then the policy's schemas."""
    by_name = {name: oid for oid, name in oids.items()}
    path = ["public", *sorted({name.schema for name in by_name} - {"public"})]
    found: dict[int, int | None] = {}
    lexemes = statement.lexed.lexemes
    for first, relation in statement.chains:
        parts = [lexemes[first].name]
        index = first
        while index + 2 < len(lexemes) and lexemes[index + 1].token.text == ".":
            index += 2
            parts.append(lexemes[index].name)
        schemas = path if len(parts) == 1 else [parts[-2]]
        candidates = (TableName(schema, parts[-1]) for schema in schemas)
        known = (by_name[name] for name in candidates if name in by_name)
        found[relation] = next(known, None)
    return tuple(found[index] for index in range(len(statement.relations)))
