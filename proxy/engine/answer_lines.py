"""What is said of an answer beside its numbers, a line each: the NOTICE of the wire and `notices` of HTTP take
it from here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from proxy.engine.clipped_units import ClippedUnits, clipped_lines
from proxy.engine.column_errors import ColumnError
from proxy.engine.impossible_answers import listed
from proxy.engine.noisy_answers import NoisyAnswer

_NONE = "no interval: "
_FAR_APART = Fraction(2)  # times the least error of a column: then it matters which group has which


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLines:
    """The lines of one answer.

    Attributes:
        errors: How far each column is off, with what its bound cuts.
        more: Those of `errors` that say more than a width.
        notes: What the errors leave out, and how times of the statement were rounded.
        withheld: What is not what the statement asks for.
    """

    errors: tuple[str, ...]
    more: tuple[str, ...]
    notes: tuple[str, ...]
    withheld: tuple[str, ...]

    @property
    def beside_widths(self) -> tuple[str, ...]:
        """All that is told of an answer whose widths stand elsewhere."""
        return (*self.withheld, *self.more, *self.notes)


def answer_lines(answer: NoisyAnswer) -> AnswerLines:
    """Say what is to be known of an answer. From released numbers and the plan only."""
    errors = tuple(_error_lines(answer.columns, answer.clipped))
    return AnswerLines(
        errors=tuple(line for line, _ in errors),
        more=tuple(line for line, is_width in errors if not is_width),
        notes=tuple(_notes(answer)),
        withheld=answer.withheld,
    )


def _error_lines(
    columns: Sequence[ColumnError], clipped: Sequence[ClippedUnits]
) -> Iterator[tuple[str, bool]]:
    """A line for each column with what its bound cuts, then other bounds. The same reason is written once.

    Yields:
        The line, and whether it says the width of the errors alone.
    """
    cut = list(clipped_lines(clipped))
    names = [column.name for column in columns]
    written: set[str] = set()
    for column in columns:
        line = column.text()
        start, _, reason = line.partition(_NONE)
        if reason in written:
            line = f"{start}{_NONE}as above"
        written |= {reason} - {""}
        own = [one for one in cut if one.column == column.name and names.count(column.name) == 1]
        cut = [one for one in cut if one not in own]
        yield "; ".join((line, *(one.text for one in own))), column.is_width and not own
    for one in cut:
        yield f"{one.named}: {one.text}" if one.named else one.text, False


def _notes(answer: NoisyAnswer) -> Iterator[str]:
    """What else is to be known of the errors, once each, without what is told anyway."""
    yield from by_group(answer.columns)
    told = {rule for line in answer.withheld for rule in line.rstrip(".").lower().split("; ")}
    notes = (note for column in answer.columns for note in column.note.split("; ") if note)
    for note in dict.fromkeys(notes):
        if note.lower() not in told:
            yield f"{note[0].upper()}{note[1:]}."
    yield from answer.limits
    yield from answer.times


def by_group(columns: Sequence[ColumnError]) -> Iterator[str]:
    """Say how to see the errors of each group, where they differ and dp.error() is accepted. Such columns are
    named if dp.error() is refused of others."""
    different = [column for column in columns if _differs_by_group(column)]
    accepted = [column.name for column in different if column.takes_error]
    if accepted:
        whose = "a column" if len(accepted) == len(different) else listed(accepted)
        yield f"dp.error(...) around the expression of {whose} shows the error of each group."


def _differs_by_group(column: ColumnError) -> bool:
    if column.place is None or column.least is None or column.most is None:
        return False
    if column.groups == 1:
        return False
    return column.most >= _FAR_APART * column.least
