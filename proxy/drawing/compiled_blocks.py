"""A block with its statements, all of them: what runs is what the compiler made of the block."""

from __future__ import annotations

from dataclasses import InitVar, dataclass

from proxy.base.errors import Fault
from proxy.compiler.compiling import (
    CompiledQuery,
    compile_block,
    compile_centres,
    compile_choices,
)
from proxy.compiler.deviation_scan import CentredScan
from proxy.kernel.checked_plan import CheckedBlock

_HERE = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledBlock:
    """Only the functions of this module make one.

    block: of which they are; choosing: what bounds are chosen by, which runs first; centring: what means of
    deviations are released by, with their centres in its first part, which runs next, or instead where that has
    the choices as well; queries: what is released. What centring gives stands for those of them that read the
    same."""

    block: CheckedBlock
    choosing: CompiledQuery | None
    centring: CentredScan | None
    queries: tuple[CompiledQuery, ...]
    made: InitVar[object]

    def __post_init__(self, made: object) -> None:
        if made is not _HERE:
            raise Fault("statements that were not compiled together")

    @property
    def all(self) -> tuple[CompiledQuery, ...]:
        """What is run, in its order."""
        found = [] if self.choosing is None else [self.choosing]
        if self.centring is None:
            return (*found, *self.queries)
        if self.centring.has_choices:
            found = []
        centring = self.centring.query
        assert isinstance(centring, CompiledQuery), "as compile_centres makes it"
        beside = self.centring.beside.values()
        stands_for = {centring.releases, *(one.releases for one in beside)}
        others = (one for one in self.queries if one.releases not in stands_for)
        return (*found, centring, *others)


def compiled_block(block: CheckedBlock) -> CompiledBlock:
    return _with_choices(block, compile_choices(block))


def compiled_bounded(block: CheckedBlock) -> CompiledBlock:
    """Of a block whose bounds are chosen.

    Raises:
        Fault: No check has made it of another.
    """
    if block.paid_as is None:
        raise Fault("a block without its bounds")
    return _with_choices(block, None)


def _with_choices(block: CheckedBlock, choosing: CompiledQuery | None) -> CompiledBlock:
    return CompiledBlock(
        block=block,
        choosing=choosing,
        centring=compile_centres(block),
        queries=compile_block(block),
        made=_HERE,
    )
