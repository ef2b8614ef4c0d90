"""One SELECT in which rows of protected tables are joined or compared with answers of other queries (ADR 0049).

The rows are asked for alone, by groups of all that is compared with an answer; the comparison itself stays in
the text, where the noisy relation takes the place of the rows. So a row meets no answer: what the shadow does
with two noisy relations is post-processing. Where each group is joined with one answer at most, the SELECT's
groups are those of the noisy relation; otherwise these are added up, as their rows would have been.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import TokenType, exp

from proxy.base.errors import Code, Refusal
from proxy.base.result_columns import NOISY_RELATION, is_made_column
from proxy.query.bind.answer_joins import AnswerJoin
from proxy.query.bind.clause_reading import condition_of
from proxy.query.bind.group_keys import WrittenKey, group_items, key_of
from proxy.query.bind.join_conditions import with_equalities
from proxy.query.bind.retained_conditions import Conditions, is_of_rows
from proxy.query.bind.select_context import SelectContext, call_end
from proxy.query.bind.sources import Sources
from proxy.query.bind.span_reading import FoundSpans, read_spans
from proxy.query.ir.bound_statement import (
    ExpressionInterval,
    IntervalValue,
    JoinedText,
    KeyValue,
    SureTruth,
    UsingColumns,
)
from proxy.query.ir.expressions import Expression
from proxy.query.ir.query_aggregates import AggregateKind
from proxy.query.ir.rebuilding import conjunction
from proxy.query.ir.relations import Relation
from proxy.query.syntax.from_clause import JoinItem, QueryItem, TableItem, leaves
from proxy.query.syntax.output_names import output_name
from proxy.query.syntax.selects import (
    ANSWERED,
    Select,
    Span,
    equal_sides,
    is_call,
    is_window_call,
    opens_query,
    own_lexemes,
    query_parts,
)
from proxy.query.syntax.slices import parse
from proxy.query.syntax.statements import split_commas
from proxy.query.syntax.tokens import Lexed

_SUMMED = (AggregateKind.COUNT_ROWS, AggregateKind.COUNT, AggregateKind.SUM)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedRows:
    """The rows as they are asked for, and what stays of the text."""

    relation: Relation
    where: Expression | None
    keys: tuple[WrittenKey, ...]
    found: FoundSpans
    text: JoinedText


def read_joined(context: SelectContext, relation: Relation, conditions: Conditions) -> JoinedRows:
    """
    Given    a SELECT of which rows meet answers, the relation of these rows, and its conditions
    Refuses  UNSUPPORTED: aggregates that cannot be added up, where a group may be joined with several answers
    """
    sources, select = context.sources, context.select
    joins = sources.joined[select.keyword].joins
    prefix = _prefix(context)
    settled = [condition_of(sources, span, context.scope) for span in conditions.settled]
    where = conjunction(settled)
    if where is not None:
        relation = with_equalities(relation, where)
    reading = _KeySearch(context, joins, conditions)
    reading.read()
    keys = tuple(reading.keys)
    retained = (*conditions.retained, *(() if reading.is_single else reading.groups))
    try:
        found = read_spans(context, keys, retained)
    except Refusal as refusal:
        _refuse_answers(context, joins, refusal)
        raise
    if not reading.is_single:
        _refuse_unsummed(context, found)
    text = JoinedText(
        rows=sources.joined[select.keyword].rows.span,
        settled=conditions.settled,
        using=tuple(reading.using),
        is_summed=not reading.is_single,
        of_answers=tuple(reading.of_answers),
        prefix=prefix,
    )
    return JoinedRows(relation=relation, where=where, keys=keys, found=found, text=text)


@dataclass(slots=True)
class _KeySearch:
    """keys: by what the rows are grouped; groups: what the SELECT itself groups by, as far as it is no key's
    number; of_answers: those of them that read no row; is_single: each group of the rows is one of the
    SELECT's, and meets one answer at most."""

    context: SelectContext
    joins: tuple[AnswerJoin, ...]
    conditions: Conditions
    keys: list[WrittenKey] = field(default_factory=list)
    groups: list[Span] = field(default_factory=list)
    using: list[UsingColumns] = field(default_factory=list)
    of_answers: list[Span] = field(default_factory=list)
    is_single: bool = True

    def read(self) -> None:
        context = self.context
        is_grouped = "group" in context.select.clauses or context.select.distinct
        clause = context.select.clauses.get("group", (0, 0))
        for node, span in group_items(context):
            self.groups.append(span)
            of_rows = is_of_rows(node, context.scope)
            if of_rows is True:
                self._add(key_of(context, node, span))
            elif of_rows is None or any(opens_query(context.lexed, i) for i in range(*span)):
                self.is_single = False
            elif clause[0] <= span[0] < clause[1] and node.find(exp.Column) is not None:
                self.of_answers.append(span)
        by_groups = {written.key for written in self.keys}
        for join in self.joins:
            self._read_using(join)
        for span in self.conditions.retained:
            self._find(span)
        needed = {written.key for written in self.keys}
        self.is_single &= is_grouped and needed <= by_groups
        self.is_single &= all(self._meets_one(join) for join in self.joins)
        if not self.is_single:  # what is grouped by is an expression over keys then, or a key
            for span in self.groups:
                self._find(span)

    def _add(self, written: WrittenKey) -> None:
        if written not in self.keys:
            self.keys.append(written)

    def _find(self, span: Span) -> None:
        """The parts of a text that are of rows alone: calls as wholes, and columns."""
        lexed = self.context.lexed
        index = span[0]
        while index < span[1]:
            if opens_query(lexed, index):
                index = lexed.partner[index] + 1
                continue
            part = self._key_at(index)
            if part is None:
                index += 1
                continue
            node = parse(lexed, part, self.context.sources.placeholders)
            self._add(key_of(self.context, node, part))
            index = part[1]

    def _key_at(self, index: int) -> Span | None:
        context = self.context
        for written in self.keys:
            last = index + len(written.words)
            if context.words((index, last)) == written.words:
                return index, last
        end = call_end(context, index)
        if end is None:
            return None
        node = parse(context.lexed, (index, end), context.sources.placeholders)
        return (index, end) if is_of_rows(node, context.scope) is True else None

    def _read_using(self, join: AnswerJoin) -> None:
        if not join.using:
            return
        lexed = self.context.lexed
        answers = join.answers
        name = answers.alias if isinstance(answers, QueryItem | TableItem) else None
        name = name or (answers.chain[-1] if isinstance(answers, TableItem) else None)
        depth = lexed.lexemes[join.place].depth
        here = (i for i in range(join.place, len(lexed.lexemes)) if lexed.lexemes[i].depth == depth)
        word = next(index for index in here if lexed.lexemes[index].word == "using")
        if name is None:
            self.context.sources.refuse(word, "USING here needs a join of one query with an alias")
        pairs = []
        for index in range(word + 2, lexed.partner[word + 1]):
            if lexed.lexemes[index].name:
                node = parse(lexed, (index, index + 1), self.context.sources.placeholders)
                written = key_of(self.context, node, (index, index + 1))
                self._add(written)
                pairs.append((written.key, lexed.lexemes[index].name))
        span = (word, lexed.partner[word + 1] + 1)
        self.using.append(UsingColumns(span=span, pairs=tuple(pairs), relation=name))

    def _meets_one(self, join: AnswerJoin) -> bool:
        """Whether no group is joined with two rows: those differ in columns that are equal to keys."""
        needed = unique_by(self.context.sources, join.answers)
        if needed is None:
            return False
        answers = join.answers
        alias = answers.alias if isinstance(answers, QueryItem | TableItem) else None
        if alias is None and isinstance(answers, TableItem):
            alias = answers.chain[-1]
        spans = () if join.on is None else self.conditions.of_join[join.place]
        # An outer join fulfils its own condition only.
        spans = spans if join.preserves_rows else (*spans, *self.conditions.of_where)
        equal = {*join.using, *self._equal_to_keys(spans, alias)}
        return needed <= equal

    def _equal_to_keys(self, spans: Sequence[Span], alias: str | None) -> Iterator[str]:
        """Columns of answers that a condition sets equal to a key."""
        context = self.context
        keys = {written.words for written in self.keys}
        for span in spans:
            sides = equal_sides(context.lexed, span)
            for one, other in () if sides is None else (sides, sides[::-1]):
                words = context.words(one)
                is_part = len(words) == 1 or call_end(context, one[0]) == one[1]
                is_chain = words[1::2] == (".",) * (len(words) // 2) and len(words) % 2 == 1
                if words not in keys or not (is_part or is_chain):
                    continue
                named = context.words(other)
                if len(named) == 1 or (len(named) == 3 and named[:2] == (alias, ".")):
                    yield named[-1]


def _prefix(context: SelectContext) -> str:
    """What the noisy relation's own columns begin with, so that no name that is written here is one of them:
    they stand beside the client's, which mean columns of answers, or outputs.

    Refuses  UNSUPPORTED: names like those of noisy relations themselves
    """
    lexed = context.lexed
    names = set[str]()
    for index in range(context.select.keyword, context.select.end):
        name = lexed.lexemes[index].name
        if name.startswith(NOISY_RELATION):
            raise Refusal(
                Code.UNSUPPORTED,
                f'the name "{name}" cannot be used where a protected table is joined with answers',
                f"Use names that do not begin with {NOISY_RELATION}: SELECT sum(x) AS total ...",
                lexed.lexemes[index].position,
            )
        names.add(name)
    if not any(is_made_column(name) for name in names):
        return ""
    prefix = "dp_"
    while any(name.startswith(prefix) for name in names):
        prefix += "_"
    return prefix


def _refuse_answers(context: SelectContext, joins: Sequence[AnswerJoin], refusal: Refusal) -> None:
    """Where it is refused for a column of answers."""
    if refusal.code is not Code.COLUMN_NOT_USABLE:
        return
    lexed = context.lexed
    places = range(context.select.keyword, context.select.end)
    index = next((i for i in places if lexed.lexemes[i].position == refusal.position), None)
    if index is None:
        return
    for leaf in (leaf for join in joins for leaf in leaves(join.answers)):
        cte = context.sources.cte(leaf) if isinstance(leaf, TableItem) else None
        alias = leaf.chain[-1] if leaf.alias is None and isinstance(leaf, TableItem) else leaf.alias
        chain = _chain_around(lexed, index)
        written = range(*(leaf.span if cte is None else cte.body))
        if chain[0] == alias or (
            len(chain) == 1 and any(lexed.lexemes[i].name == chain[0] for i in written)
        ):
            raise Refusal(
                Code.COLUMN_NOT_USABLE,
                f'"{chain[-1]}" is of answers, which cannot be aggregated with the rows that meet them',
                "GROUP BY it beside what is joined: SELECT t.k, q.n, count(*) FROM table t JOIN (SELECT ...) q"
                " ON q.k = t.k GROUP BY t.k, q.n; or aggregate the table in a subquery, too, and join the two.",
                refusal.position,
            )


def _chain_around(lexed: Lexed, index: int) -> tuple[str, ...]:
    """The dotted name of which a lexeme is a part."""
    lexemes = lexed.lexemes
    while lexemes[index - 1].kind is TokenType.DOT:
        index -= 2
    return tuple(lexemes[at].name for at in range(index, lexed.name_end(index) + 1, 2))


def _refuse_unsummed(context: SelectContext, found: FoundSpans) -> None:
    for span, meaning in found.meanings.items():
        position = context.lexed.lexemes[span[0]].position
        if isinstance(meaning, IntervalValue | ExpressionInterval | SureTruth):
            message = "the error of answers that are added up is not known"
            hint = "Take dp.error(...) in a SELECT that groups by what is joined or compared."
            raise Refusal(Code.UNSUPPORTED, message, hint, position)
        if isinstance(meaning, KeyValue) and meaning.key in found.dependent:
            first, last = (context.lexed.lexemes[index] for index in (span[0], span[1] - 1))
            column = context.lexed.text[first.start : last.end]
            message = f'"{column}" is no key of answers that are added up'
            raise Refusal(Code.UNSUPPORTED, message, f"Write GROUP BY ..., {column}.", position)
    for aggregate in found.aggregates:
        if aggregate.kind not in _SUMMED:
            raise Refusal(
                Code.UNSUPPORTED,
                f"{aggregate.kind.value} cannot be added up over groups that are joined with answers",
                "Use count and sum, or GROUP BY all that is joined or compared with the answers.",
                aggregate.position,
            )


# --- By which of its columns the rows of a subquery differ, told from its text: then one at most joins a
# group.
#
# By allow-list: where a select list calls a function that is not listed, it may give several rows for one.


# Of one row they give one value.
_ONE_VALUE = ANSWERED | {
    *("abs", "cast", "ceil", "ceiling", "coalesce", "concat", "date", "date_part", "date_trunc"),
    *("extract", "filter", "floor", "greatest", "least", "lower", "make_date", "make_interval"),
    *("mod", "nullif", "numeric", "decimal", "round", "sign", "to_char", "trunc", "upper", "over"),
    *("rank", "dense_rank", "row_number", "varchar", "in", "and", "or", "not", "when", "then"),
    *("else", "case", "between", "is", "like", "by"),
}


def unique_by(sources: Sources, item: TableItem | QueryItem | JoinItem) -> frozenset[str] | None:
    """
    Given    a side of a join that gives answers
    Gives    names of its columns; no two of its rows are equal in all of them: of none, it has one row at most;
             None where that is not known
    """
    if isinstance(item, JoinItem) or item.columns:
        return None
    span = item.query if isinstance(item, QueryItem) else None
    if isinstance(item, TableItem):
        cte = sources.cte(item)
        if cte is None or cte.columns or cte.span[0] <= cte.body[0]:  # RECURSIVE may name itself
            return None
        span = cte.body
    return None if span is None else _of_query(sources, span)


def _of_query(sources: Sources, span: Span) -> frozenset[str] | None:
    parts, _ = query_parts(sources.lexed, span, sources.selects)
    if len(parts) != 1 or not _is_whole_query(sources, span, parts[0]):
        return None
    select = parts[0]
    if _has_one_row(sources, select):
        return frozenset()
    items = dict(_items(sources, select))
    if select.distinct:
        return (
            None
            if select.is_distinct_on or None in items.values()
            else frozenset(filter(None, items.values()))
        )
    if not all(_gives_one_value(sources, inner) for inner in items):
        return None
    if "group" in select.clauses:
        return _of_groups(sources, select, items)
    if _is_one_group(sources, select):
        return frozenset()
    return _passed_on(sources, select, items)


def _is_one_group(sources: Sources, select: Select) -> bool:
    """Whether it aggregates, without GROUP BY: window functions do not."""
    lexed = sources.lexed
    spans = [select.clauses[name] for name in ("items", "having") if name in select.clauses]
    for index in (i for span in spans for i in own_lexemes(lexed, span)):
        if lexed.lexemes[index].name not in ANSWERED or not is_call(lexed, index):
            continue
        if not is_window_call(lexed, index):
            return True
    return False


def _is_whole_query(sources: Sources, span: Span, select: Select) -> bool:
    """Whether the query is this SELECT, behind a WITH or in brackets perhaps: no set operation, no VALUES."""
    lexed = sources.lexed
    first = lexed.lexemes[span[0]]
    if first.word == "select":
        return (select.keyword, select.end) == span
    if first.kind is TokenType.L_PAREN:
        close = lexed.partner[span[0]]
        return close + 1 == span[1] and _is_whole_query(sources, (span[0] + 1, close), select)
    return first.word == "with" and select.end == span[1]


def _has_one_row(sources: Sources, select: Select) -> bool:
    """LIMIT 1, FETCH FIRST ROW ONLY."""
    lexed = sources.lexed
    if "limit" in select.clauses:
        first, last = select.clauses["limit"]
        return last - first == 1 and lexed.lexemes[first].token.text == "1"
    if "fetch" in select.clauses:
        words = [lexed.lexemes[i].token.text.lower() for i in range(*select.clauses["fetch"])]
        left = [word for word in words if word not in ("first", "next", "1", "row", "rows")]
        return left == ["only"]
    return False


def _items(sources: Sources, select: Select) -> Iterator[tuple[Span, str | None]]:
    """The expression of each item of the list, and its name; None where that is not known."""
    lexemes = sources.lexed.lexemes
    for first, last in split_commas(sources.lexed, *select.items):
        if last - first > 2 and lexemes[last - 2].word == "as":
            yield (first, last - 2), lexemes[last - 1].name or None
            continue
        implied = output_name(sources.lexed, (first, last))
        if implied is None and last - first > 1 and lexemes[last - 1].name:
            yield (first, last - 1), lexemes[last - 1].name  # an alias without AS
        else:
            yield (first, last), None if implied is None else implied.name


def _gives_one_value(sources: Sources, span: Span) -> bool:
    lexed = sources.lexed
    index = span[0]
    while index < span[1]:
        if opens_query(lexed, index):
            index = lexed.partner[index]
        lexeme = lexed.lexemes[index]
        if lexeme.name and is_call(lexed, index) and lexeme.name not in _ONE_VALUE:
            return False
        index += 1
    return True


def _of_groups(
    sources: Sources, select: Select, items: dict[Span, str | None]
) -> frozenset[str] | None:
    """Every key has to be among the columns."""
    lexemes = sources.lexed.lexemes
    spans = list(items)
    found = set()
    for key in split_commas(sources.lexed, *select.clauses["group"]):
        text = lexemes[key[0]].token.text
        if key[1] - key[0] == 1 and text.isascii() and text.isdigit():
            place = int(text) - 1
            name = items[spans[place]] if 0 <= place < len(spans) else None
        else:
            words = _words(sources, key)
            named = [items[span] for span in spans if _words(sources, span) == words]
            name = named[0] if named else None
        if name is None:
            return None
        found.add(name)
    return frozenset(found)


def _passed_on(
    sources: Sources, select: Select, items: dict[Span, str | None]
) -> frozenset[str] | None:
    """SELECT a, b AS c FROM (...) q: as the rows below, under the names of this list."""
    if "from" not in select.clauses:
        return frozenset()
    try:
        below = unique_by(sources, sources.from_item(select))
    except Refusal:
        return None
    words = {_words(sources, span): name for span, name in items.items()}
    if below is None or words.keys() == {("*",)}:
        return below
    names = {
        chain[-1]: name
        for chain, name in words.items()
        if len(chain) == 1 or (len(chain) == 3 and chain[1] == ".")
    }
    displayed = [names.get(name) for name in below]
    return None if None in displayed else frozenset(filter(None, displayed))


def _words(sources: Sources, span: Span) -> tuple[str, ...]:
    lexemes = sources.lexed.lexemes[span[0] : span[1]]
    return tuple(x.name or sources.lexed.text[x.start : x.end] for x in lexemes)
