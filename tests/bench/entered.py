"""How much code a statement enters: functions and files of the product, counted on the proxy's threads.

    python -m tests.bench.entered

On live servers. Each statement is asked once before, so that what is made at first use is not counted.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tests.live_proxy import sample_databases, start_proxy
from tests.servers_fixture import servers

_PRODUCT = str(Path(__file__).parents[2] / "proxy")
STATEMENTS = {
    "count": "SELECT count(*) FROM shop.orders WHERE total > {}",
    "avg by groups": "SELECT status, avg(total) FROM shop.orders WHERE total > {} GROUP BY status",
    "a query of the catalogue": "SELECT relname FROM pg_class WHERE relname = 'x{}'",
}


@dataclass(frozen=True, slots=True)
class Entered:
    """functions: by file and first line."""

    functions: frozenset[tuple[str, int]]

    @property
    def files(self) -> frozenset[str]:
        return frozenset(file for file, _ in self.functions)

    @property
    def lines(self) -> int:
        return sum(len(Path(file).read_text(encoding="utf-8").splitlines()) for file in self.files)


@contextmanager
def counting() -> Iterator[set[tuple[str, int]]]:
    """What threads that begin meanwhile enter."""
    found: set[tuple[str, int]] = set()

    def called(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_PRODUCT):
            found.add((code.co_filename, code.co_firstlineno))

    threading.setprofile(called)
    try:
        yield found
    finally:
        threading.setprofile(None)


def entered() -> dict[str, Entered]:
    """For each statement, asked anew with another constant."""
    pair = servers()
    with counting() as found:
        proxy = start_proxy(pair, sample_databases(pair))
        counted = {}
        try:
            with proxy.connect() as connection:
                for name, text in STATEMENTS.items():
                    for constant in (5, 6):
                        found.clear()
                        connection.execute(text.format(constant).encode()).fetchall()
                    counted[name] = Entered(frozenset(found))
        finally:
            proxy.stop()
    return counted


def main() -> None:
    for name, one in entered().items():
        print(
            f"{name:26} {len(one.functions):6,} functions {len(one.files):4} files {one.lines:7,} lines"
        )


if __name__ == "__main__":
    main()
