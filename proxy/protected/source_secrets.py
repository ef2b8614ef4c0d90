"""What a connection string names beside its secrets, and whether two differ in these alone."""

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


def role_of(source: str) -> str:
    """The role that a connection string names; else that of `dpproxy policy role`.

    >>> role_of("host=db user=reader password=a"), role_of("host=db")
    ('reader', 'dp_reader')
    """
    return str(conninfo_to_dict(source).get("user") or "dp_reader")
