"""Whether a ledger may be charged. Commands that start quickly ask this, and import nothing that charges."""

from __future__ import annotations

from proxy.cli.cli_error import CliError
from proxy.ledger.ledger_mark import (
    LedgerWentBack,
    MarkFile,
    check_mark,
    restored_as_of,
    restored_text,
)


def check_ledger(ledger_dsn: str, mark: MarkFile, accept: str, last_receipt: int = 0) -> None:
    """Check that the ledger may be charged: it may have been put back from a copy.

    Args:
        ledger_dsn: The ledger.
        mark: How far it was.
        accept: The command that accepts a ledger which was put back.
        last_receipt: The highest number that this process has seen committed.

    Raises:
        CliError: It may not be charged.
        psycopg.Error: It cannot be reached.
    """
    try:
        check_mark(ledger_dsn, mark, last_receipt)
        if (as_of := restored_as_of(ledger_dsn)) is not None:
            raise LedgerWentBack(restored_text(as_of))
    except LedgerWentBack as error:
        raise CliError(f"{error}. If that is meant: {accept}") from None
