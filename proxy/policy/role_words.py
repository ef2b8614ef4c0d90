"""Columns of which each value is a person who serves, decides or signs."""

from __future__ import annotations

from proxy.policy.person_words import person_of_column, singular, words_of

_ROLES = {
    *(
        "clerk",
        "coach",
        "trainer",
        "mentor",
        "tutor",
        "referee",
        "umpire",
        "judge",
        "officer",
        "cashier",
    ),
    *(
        "waiter",
        "chef",
        "captain",
        "editor",
        "host",
        "supervisor",
        "consultant",
        "adviser",
        "advisor",
    ),
    *(
        "assignee",
        "requester",
        "reporter",
        "approver",
        "surgeon",
        "gp",
        "carer",
        "handler",
        "signer",
    ),
    *("nick", "nickname", "alias", "who", "whom", "wer", "kuerzel", "spitzname", "rufname"),
    *("hausarzt", "betreuer", "sachbearbeiter", "verkaeufer", "verkaufer", "berater", "pfleger"),
    *("kassierer", "leiter", "pruefer", "prufer", "bearbeiter", "ansprechpartner", "vendeur"),
    *("responsable", "vendedor", "encargado", "responsabile"),
}


def is_somebody(column: str) -> bool:
    """Whether each value of a column is most likely one person, by a role or by a nickname.

    >>> [is_somebody(name) for name in ("clerk", "approved_by", "doctor", "hausarzt", "insurer", "standby")]
    [True, True, True, True, False, False]
    """
    words = words_of(column)
    last = singular(words[-1]) if words else ""
    return (
        last in _ROLES or (len(words) > 1 and last == "by") or person_of_column(column) is not None
    )
