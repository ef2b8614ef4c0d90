"""What a ledger says of published tables to its operator: the latest release of each, and which stopped."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

_LATEST = """\
SELECT s.name, l.name, to_char(l.released_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'),
       trim_scale(l.epsilon)::text, l.receipt,
       to_char(t.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'), t.reason, l.failure
FROM (SELECT DISTINCT ON (p.source, p.name) p.* FROM ledger.published p ORDER BY p.source, p.name, p.id DESC) l
JOIN ledger.source s ON s.id = l.source
LEFT JOIN ledger.stale t ON (t.source, t.name, t.version) = (l.source, l.name, l.version)
UNION ALL
SELECT s.name, t.name, NULL, NULL, NULL, to_char(t.since AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'),
       t.reason, NULL
FROM ledger.stale t JOIN ledger.source s ON s.id = t.source
WHERE NOT EXISTS (SELECT FROM ledger.published p WHERE p.source = t.source AND p.name = t.name)
ORDER BY 1, 2"""


def published_lines(ledger_dsn: str) -> Iterator[str]:
    """A line of each that was ever released, or could not be."""
    with psycopg.connect(ledger_dsn) as connection:
        found = connection.execute(_LATEST).fetchall()
    for source, name, released_at, epsilon, receipt, since, reason, failure in found:
        line = f"{source}: published.{name}: "
        if receipt is None:
            line += "never released"
        elif released_at is None:
            line += f"charged (receipt {receipt}), not released yet"
        else:
            line += f"released {released_at}, epsilon {epsilon}, receipt {receipt}"
        if since is not None:
            line += f"; STALE since {since}: {reason}"
        elif failure is not None:
            line += f"; STALE: it is no table: {failure}"
        yield line
