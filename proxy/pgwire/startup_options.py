"""Which settings a StartupMessage may bring: an allow-list of names (PostgreSQL manual, chapter 20).

What is on it, a session could SET anyway. It keeps out what acts on the connection or on the server's
process (replication, command-line switches of `postgres`), and names that nobody sends.
"""

from __future__ import annotations

from collections import deque

_CONNECTION = frozenset({"user", "database", "options"})

SETTINGS = frozenset(
    {
        "application_name",
        "bytea_output",
        "client_encoding",
        "client_min_messages",
        "cursor_tuple_fraction",
        "datestyle",
        "default_transaction_deferrable",
        "default_transaction_isolation",
        "default_transaction_read_only",
        "enable_seqscan",
        "extra_float_digits",
        "from_collapse_limit",
        "geqo",
        "idle_in_transaction_session_timeout",
        "idle_session_timeout",
        "intervalstyle",
        "jit",
        "join_collapse_limit",
        "lc_monetary",
        "lc_numeric",
        "lc_time",
        "lock_timeout",
        "plan_cache_mode",
        "search_path",
        "standard_conforming_strings",
        "statement_timeout",
        "tcp_keepalives_count",
        "tcp_keepalives_idle",
        "tcp_keepalives_interval",
        "tcp_user_timeout",
        "timezone",
        "transaction_isolation",
        "transaction_read_only",
        "work_mem",
        "dp.delta",
        "dp.epsilon",
        "dp.fresh",
        "dp.published",
        "dp.notice",
        "dp.round",
        "dp.trial",
        "dp.mechanism",
    }
)

Trouble = tuple[str, str]  # SQLSTATE and message


def refused_setting(name: str) -> Trouble | None:
    """
    >>> refused_setting("DateStyle")
    >>> refused_setting("wal_level")
    ('42704', 'unrecognized configuration parameter "wal_level"')
    """
    # _pq_. names are options of the protocol itself, negotiated by the server (PostgreSQL 17 documentation,
    # section 55.2.1).
    if name in _CONNECTION or name.lower() in SETTINGS or name.startswith("_pq_."):
        return None
    return "42704", f'unrecognized configuration parameter "{name}"'


def refused_option(options: str) -> Trouble | None:
    r"""`options`: switches of a postgres command line, of which -c NAME=VALUE and --NAME=VALUE pass.

    >>> refused_option("-c search_path=shop -cjit=off --dp.epsilon=0.5")
    >>> refused_option("-d 5")
    ('42601', 'invalid command-line argument for server process: -d')
    """
    words = deque(_words(options))
    while words:
        word = words.popleft()
        if word == "-c" and words:
            assignment = words.popleft()
        elif word.startswith("--"):
            # PostgreSQL reads dashes in such a name as underscores.
            name, equals, value = word[2:].partition("=")
            assignment = name.replace("-", "_") + equals + value
        elif word.startswith("-c"):
            assignment = word[2:]
        else:
            return "42601", f"invalid command-line argument for server process: {word}"
        name, equals, _ = assignment.partition("=")
        if not equals or not name:
            return "42601", f"-c {name} requires a value"
        if name.lower() not in SETTINGS:
            return "42704", f'unrecognized configuration parameter "{name}"'
    return None


def _words(options: str) -> list[str]:
    """As pg_split_opts does: white space separates, a backslash keeps the next character."""
    words: list[str] = []
    word: list[str] = []
    in_word = False
    characters = iter(options)
    for character in characters:
        if character.isspace():
            if in_word:
                words.append("".join(word))
                word, in_word = [], False
            continue
        in_word = True
        word.append(next(characters, "") if character == "\\" else character)
    if in_word:
        words.append("".join(word))
    return words
