"""Which settings a StartupMessage may bring: an allow-list of names (PostgreSQL manual, chapter 20).

What is on it, a session could SET anyway. It keeps out what acts on the connection or on the server's
process (replication, command-line switches of `postgres`), and names that nobody sends. A name with a dot is
a setting of the client's own (section 20.16, "Customized Options"): the shadow says what is wrong with it.
Only those of dpproxy itself, dp.*, are on the list.
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
        "dp.accept_error",
        "dp.previews",
    }
)

Trouble = tuple[str, str] | tuple[str, str, str]  # SQLSTATE, message and perhaps a hint

_OWN = "dp."
_LATER = "A session begins with few settings. Others are changed once it is connected."


def refused_setting(name: str) -> Trouble | None:
    """
    >>> refused_setting("DateStyle")
    >>> refused_setting("my.thing")
    >>> refused_setting("dp.secret")
    ('42704', 'unrecognized configuration parameter "dp.secret"')
    """
    # _pq_. names are options of the protocol itself, negotiated by the server (PostgreSQL 17 documentation,
    # section 55.2.1).
    return None if name in _CONNECTION or name.startswith("_pq_.") else _unknown(name)


def _unknown(name: str) -> Trouble | None:
    folded = name.lower()
    is_own = folded.startswith(_OWN)
    if folded in SETTINGS or ("." in name and not is_own):
        return None
    trouble = "42704", f'unrecognized configuration parameter "{name}"'
    return trouble if is_own else (*trouble, _LATER)


def refused_option(options: str) -> Trouble | None:
    r"""`options`: switches of a postgres command line, of which -c NAME=VALUE and --NAME=VALUE pass.

    >>> refused_option("-c search_path=shop -cjit=off --dp.epsilon=0.5 --my.thing=1")
    >>> refused_option("-d 5")
    ('42601', 'invalid command-line argument for server process: -d')
    >>> refused_option("--my.thing")
    ('42601', '--my.thing requires a value')
    """
    words = deque(_words(options))
    while words:
        word = words.popleft()
        if word == "-c" and words:
            switch, assignment = "-c ", words.popleft()
        elif word.startswith("--"):
            switch, assignment = "--", word[2:]
        elif word.startswith("-c"):
            switch, assignment = "-c ", word[2:]
        else:
            return "42601", f"invalid command-line argument for server process: {word}"
        name, equals, _ = assignment.partition("=")
        if not equals or not name:
            return "42601", f"{switch}{assignment} requires a value"
        # PostgreSQL reads dashes in a name as underscores (ParseLongOption).
        if (trouble := _unknown(name.replace("-", "_"))) is not None:
            return trouble
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
