"""Whether a connection string still leads to the same place as before, by another secret."""

from __future__ import annotations

from psycopg.conninfo import conninfo_to_dict

_SECRETS = frozenset({"password", "passfile", "sslcert", "sslkey", "sslpassword", "sslrootcert"})


def only_secrets_differ(one: str, other: str) -> bool:
    """
    >>> only_secrets_differ("host=db user=reader password=a", "postgresql://reader:b@db")
    True
    >>> only_secrets_differ("host=db user=reader", "host=db user=owner")
    False
    """
    given = [
        {name: value for name, value in conninfo_to_dict(text).items() if name not in _SECRETS}
        for text in (one, other)
    ]
    return given[0] == given[1]
