"""The vocabulary of running a query, shared by the relay's machine, the HTTP listener and the engine adapter.

Plain data. Whoever drives a statement knows no SQL; it needs of the engine:

    look(text)      is it to be relayed, inspected, or an EXECUTE of something?   (tokens only)
    read(Read)      given what the shadow says of it: relay, substitute, refuse   (per statement)
    RunQuery(...)   the noisy relation of one run of a substituted statement      (per Bind; charges)

    PlanTrial(...)  made-up answers of that run, to try it with                   (before the charge)

and of the client's session on the shadow: Analyse, ReadArguments, Rehearse, RunTrial; for EXECUTE also
LookUpPrepared and Evaluate. The order in which they come is that of `query_sequence.py`. Look, LookPrepared and
a long Read take long: they are for a thread, and the machine of the relay waits.

`handle` values are opaque: who answers a look or a read gets its own handle back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from proxy.base.errors import Code

NO_RELATION = "{}"  # the relation of a statement that needs none


# Of PostgreSQL's message about an unknown column: which columns there are.
ColumnHint = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Relay the statement as it is. column_hint: of a query in it, which is not asked yet. prepares: names of
    statements that it may prepare or deallocate by SQL; deallocates: the name, where it does nothing else."""

    column_hint: ColumnHint | None = field(default=None, compare=False, repr=False)
    prepares: tuple[str, ...] = ()
    deallocates: str = ""


@dataclass(frozen=True, slots=True)
class Inspect:
    """It may touch protected relations: analyse it on the shadow, resolve `relations`, then Read.

    relations: names as written, to be resolved in the session by to_regclass (search_path,
    temporary tables and quoting are then PostgreSQL's business).
    analyse: the text that the shadow is to analyse for parameter and column types (for DECLARE,
    COPY and the like the inner query, padded so that error positions agree with the client's text).
    """

    relations: tuple[str, ...]
    analyse: str
    handle: Any
    column_hint: ColumnHint | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Look:
    """What a long text holds; answered by `statement_look.pieces_of`, in a thread.

    is_exact: see `Session.readable`. is_query: a simple query string, of several statements perhaps.
    """

    text: str
    is_exact: bool
    is_query: bool


@dataclass(frozen=True, slots=True)
class LookPrepared:
    """As `Look`, of what `PREPARE name AS ...` within a text stores; `statement_look.prepared_of`."""

    source: str
    name: str


@dataclass(frozen=True, slots=True)
class ExecutePrepared:
    """EXECUTE name(arguments) of SQL: look up pg_prepared_statements, then look at what it holds.

    arguments: the text of each argument expression. inside: the statement around it, e.g. EXPLAIN.
    """

    name: str
    arguments: tuple[str, ...]
    inside: str = ""


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    name: str
    type_oid: int
    type_modifier: int


@dataclass(frozen=True, slots=True)
class Analyse:
    """Answered by an Analysis, or a Refuse. is_placed: positions in the text are positions in the client's."""

    inspect: Inspect
    parameter_oids: tuple[int, ...]
    is_placed: bool = True


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the shadow says of a statement, what its names mean in the session, and the session's settings.

    relation_oids: of Inspect.relations, in order, None where the session sees no such relation.
    columns: empty where the statement returns none.
    settings: those of base.session_settings that are not empty, e.g. {"dp.epsilon": "0.5"}.
    search_path: as set; "" where a statement does not outlive it (HTTP).
    """

    relation_oids: tuple[int | None, ...]
    parameter_oids: tuple[int, ...]
    columns: tuple[DescribedColumn, ...]
    settings: Mapping[str, str]
    search_path: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """What an analysed statement asks. is_long: it is for a thread. with_errors: its result is wanted with the
    error of each value (HTTP). constant_oids: of what a Read before this one wanted to know. The
    other fields are those of Analysis."""

    handle: Any
    relation_oids: tuple[int | None, ...]
    parameter_oids: tuple[int, ...]
    columns: tuple[DescribedColumn, ...]
    settings: Mapping[str, str]
    is_long: bool = False
    with_errors: bool = False
    constant_oids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ConstantsWanted:
    """The statement can be read once it is known of which types these expressions are. They are constant; the
    client's parameters may stand in them."""

    expressions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DescribeConstants:
    """Answered by the OID of each expression's type."""

    expressions: tuple[str, ...]
    parameter_oids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MadeOfNulls:
    """What a statement makes, tried and undone: head, a SELECT of a NULL for each column, tail.

    if_not_exists: then it is not made where it exists already, and the query is not run. tag: the command's
    name in errors, where head names another.
    """

    head: str
    columns: tuple[DescribedColumn, ...]
    tail: str
    if_not_exists: bool
    tag: str | None


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What the shadow is asked about a substituted statement before a RunQuery: its own errors then come first.

    plan: an EXPLAIN, with the statement's parameters. limits: a SELECT of a number for each LIMIT, 0 where it
    lets no row through; lets_nothing_through: those by which the statement has no rows at all.
    same_kind: what says no where the statement may not be: a COPY with the same options; a cursor, and its end.
    result_oids: types of the columns that the client receives, none where it receives no rows.
    without_rows: what to run of a statement that is a literal and needs no relation.
    is_computed: the statement computes with its answers, so it needs a trial run.
    encoding: in which COPY prints its rows, if it names one.
    """

    plan: str
    limits: str | None = None
    lets_nothing_through: tuple[int, ...] = ()
    made: MadeOfNulls | None = None
    same_kind: tuple[str, ...] = ()
    result_oids: tuple[int, ...] = ()
    without_rows: str | None = None
    is_computed: bool = False
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Substitute:
    """Send `text` in the statement's place, with one more parameter: jsonb, number
    `relation_parameter` (always the highest: the analysis' parameters plus one). Its value comes
    from a RunQuery; the client's own parameters stay as they are.

    as_literal: the statement cannot take parameters (COPY). `text` is then unused; the whole
    statement comes as Answered.inlined_text.
    command_tag: what the client is told instead of CommandComplete's tag (EXPLAIN), else None.
    needs_block: DECLARE of a cursor that ends with its transaction.
    rehearsal: None where nothing is charged. constants: expressions of type text, in which the client's
    parameters may stand; their values follow its arguments.
    """

    text: str
    relation_parameter: int
    as_literal: bool
    handle: Any
    command_tag: str | None = None
    needs_block: bool = False
    rehearsal: Rehearsal | None = None
    constants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refuse:
    """To be raised by the shadow in the statement's place; position (1-based, characters) is put
    into the ErrorResponse by the machine. is_unforeseen: made of an error that nobody has thought of;
    retry_after: seconds, where waiting helps. is_kept_from_shadow: the shadow may not even analyse the
    statement. code: why, for counts and logs. receipt: of a charge that stands after a failure."""

    sqlstate: str
    message: str
    hint: str
    position: int | None
    is_unforeseen: bool = False
    retry_after: int | None = None
    is_kept_from_shadow: bool = False
    code: Code | None = field(default=None, compare=False)
    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class ReadArguments:
    """The client's values of one run. Answered by Arguments; by a Refuse, or Verbatim where the session holds
    another statement by now.

    settings: of the analysis, for those that have analysed it for this run. rehearsal: what comes next, and
    may be done in the same round trip: Arguments.needs_relation then says what Rehearse would.
    """

    parameter_oids: tuple[int, ...]
    settings: Mapping[str, str]
    rehearsal: Rehearsal | None = None


@dataclass(frozen=True, slots=True)
class Evaluate:
    """The argument expressions of an EXECUTE. types: OID and name of each. Answered as ReadArguments."""

    expressions: tuple[str, ...]
    types: tuple[tuple[int, str], ...]
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Arguments:
    """
    json: JSON text of each client parameter (to_jsonb on the shadow), None for NULL; None for all of them where
    they cannot be read in the session's client_encoding.
    values, formats: as in a Bind, without the relation. in_block: whether a transaction block is open.
    needs_relation: as Rehearse is answered; None where it was not done.
    search_path: as of Analysis; None where the analysis is of this run.
    is_utf8: whether the client reads UTF-8. Other encodings cannot show each character.
    """

    json: tuple[str | None, ...] | None
    settings: Mapping[str, str]
    values: tuple[bytes | None, ...] = ()
    formats: tuple[int, ...] = ()
    in_block: bool = True
    needs_relation: bool | None = None
    search_path: str | None = None
    is_utf8: bool = True


@dataclass(frozen=True, slots=True)
class Correct:
    """What to ask in the place of a refused statement. Answered by its SQL, or None. handle, settings: of the
    step that refused."""

    handle: Any
    settings: Mapping[str, str]
    refuse: Refuse


@dataclass(frozen=True, slots=True)
class LookUpPrepared:
    """Answered by Prepared; None: no such statement, or one that is simply relayed."""

    name: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """source: of an SQL-level PREPARE. types: OID and name of each parameter's type. looked: what a statement
    holds that a Parse has named."""

    source: str
    types: tuple[tuple[int, str], ...]
    looked: Inspect | ExecutePrepared | Refuse | None = None


@dataclass(frozen=True, slots=True)
class Rehearse:
    """Answered by whether the statement needs its relation. parameter_oids: without the relation's."""

    rehearsal: Rehearsal
    parameter_oids: tuple[int, ...]
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class EvaluateConstants:
    """Answered by their values, or a Refuse. constants: as of Substitute; parameter_oids: without the
    relation's."""

    constants: tuple[str, ...]
    parameter_oids: tuple[int, ...]
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class PlanTrial:
    """Answered by a Trial, a Refuse, or None where there is nothing to try. is_first: with one made-up
    relation, else with all. The rest: as of RunQuery."""

    handle: Any
    arguments: tuple[str | None, ...]
    settings: Mapping[str, str]
    is_first: bool
    day: int | None = None


class TrialResult(Enum):
    """What becomes of the rows of a query: it has none, they are stored (a table), or the client gets them."""

    NONE = "none"
    STORED = "stored"
    TEXT = "text"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class Trial:
    """A rewritten query, to be run with made-up relations and undone.

    pieces: its text between its parameters; numbers: of these parameters, the highest is the relation.
    called: names of functions that it calls. words: all that may name a relation in it. relations: JSON, one
    for each run. encoding: in which rows are printed, "" for the session's. hint: of an error that comes with
    each relation. day: as of RunQuery, which is given it.
    """

    pieces: tuple[str, ...]
    numbers: tuple[int, ...]
    called: tuple[str, ...]
    words: tuple[str, ...]
    relations: tuple[str, ...]
    result: TrialResult
    encoding: str
    hint: str
    day: int | None = None


@dataclass(frozen=True, slots=True)
class RunTrial:
    """Answered by whether the statement may succeed. An error that comes with each of several relations is
    raised. parameter_oids: without the relation's."""

    trial: Trial
    parameter_oids: tuple[int, ...]
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class RunQuery:
    """One run, charged; answered by Answered or Refuse. arguments: as Arguments.json, and behind them what the
    statement's constants are. day: the present that was read for its trial run; None: it is not read yet, or
    not needed."""

    handle: Any
    arguments: tuple[str | None, ...]
    settings: Mapping[str, str]
    day: int | None = None


@dataclass(frozen=True, slots=True)
class ChargedAnswer:
    """What to do if an error comes after the charge. hint: for the analyst; keep: keeps the answer, so that it
    can still be delivered."""

    hint: Callable[[], str | None]
    keep: Callable[[], None]


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """relation: JSON text for the extra parameter.
    notice: makes the text of a NoticeResponse to send, or None. It may take a while, and is asked for once the
    statement is on its way.
    inlined_text: the whole statement with the relation's literal in it, where Substitute.as_literal;
    the literal in ASCII (JSON escapes), so that no client_encoding changes it.
    handle: what else there is to tell of the answer; opaque.
    outlasts_timeout: whether the session's statement_timeout could have ended it, and was not heeded.
    charged: None where nothing was charged.
    """

    relation: str
    notice: Callable[[], str | None]
    inlined_text: str | None = None
    handle: Any = None
    outlasts_timeout: bool = False
    charged: ChargedAnswer | None = None


@dataclass(frozen=True, slots=True)
class ShadowStatement:
    """A statement to run on the shadow in the client's place.

    values: in text format, or as they came. relation: the value of one more parameter, jsonb, if it has one.
    charged: as of QueryAnswer.
    """

    text: str
    parameter_oids: tuple[int, ...] = ()
    values: tuple[bytes | None, ...] = ()
    relation: str | None = None
    command_tag: str | None = None
    charged: ChargedAnswer | None = None


class KnownTables(Protocol):
    """What is known of the tables that an error names."""

    def is_protected(self, table: str) -> bool:
        """Whether a protected table has this last name."""
        ...

    def unknown_table_hint(self, message: str) -> str | None:
        """The nearest to one that is not there."""
        ...


class StatementReader(KnownTables, Protocol):
    """What a driver asks while it goes: no I/O, and quick (cached by text where it is not)."""

    def split(self, text: str) -> tuple[tuple[int, str], ...] | Refuse:
        """The statements of a simple query string, each with its offset in characters, without the
        semicolon; empty ones and mere comments left out. What cannot be cut (an open quote) is
        one."""
        ...

    def look(self, text: str) -> Verbatim | Inspect | ExecutePrepared | Refuse: ...

    def prepared(self, source: str, name: str) -> str | Refuse | None:
        """The body of `PREPARE name [(types)] AS body` within `source`, which may hold other
        statements too (pg_prepared_statements keeps the whole string); None where it is not
        found; Refuse where its meaning depends on settings of that time."""
        ...

    def read(self, read: Read) -> Verbatim | Substitute | ConstantsWanted | Refuse: ...

    def can_correct(self, refuse: Refuse) -> bool:
        """Whether `Correct` may have an answer."""
        ...
