"""Public keys that look like what names people, by their own text: addresses, telephone numbers, names.

Dates, years, ranges, times and addresses of computers are the most usual public keys, so a telephone number is
told by how it begins and is parted, not by digits alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from proxy.policy.category_words import are_categories, is_category
from proxy.policy.person_words import person_of_column, singular, words_of
from proxy.policy.personal_names import (
    are_common_names,
    are_logins,
    are_single_names,
    are_written_names,
    has_title_or_initial,
)

_MAIL = re.compile(r".*[^\s@]@[^\s@]+\.[^\s@].*", re.DOTALL)
_TELEPHONE = re.compile(
    r"(\+|00[1-9])[0-9 ()/.-]{7,}[0-9]"  # +49 30 1234567
    r"|\(?0[1-9][0-9]{1,4}(\) ?|[ /-])[0-9]{3,}( ?[0-9]{2,})+"  # 030 1234567, (0170) 123 45 67
    r"|0[1-9]( [0-9]{2}){4}"  # 01 23 45 67 89
    r"|(\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.-])[0-9]{3}[ .-][0-9]{4}"  # (555) 123-4567
)
_ACCOUNT = re.compile(r"[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?")
_SENTENCE_WORDS = 6
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_RECORD = re.compile(r"[A-Za-z]{1,3}[ -]?[0-9]{6,}")
_HANDLE = re.compile(r"@\w{2,}|\S+\(at\)\S+|([\w-]+\.)+[a-z]{2,}/\S+")  # @anna, facebook.com/anna
_OFFICIAL = re.compile(r"[0-9]{3}-[0-9]{2}-[0-9]{4}")  # of the social security of the United States
_PLATE = re.compile(r"[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} ?[0-9]{1,4}")
_PLACE = re.compile(r"[^,]+ [0-9]+[a-z]?, [0-9]{4,5} \w.*")  # Hauptstr. 5, 80331 München
_MANY = 500
_Test = Callable[[str], object]

_SURE = (
    (_MAIL.fullmatch, "one is an e-mail address"),
    (_TELEPHONE.fullmatch, "one is like a telephone number"),
    (_ACCOUNT.fullmatch, "one is like the number of a bank account"),
)
_PERHAPS = (
    (_UUID.fullmatch, "one is a UUID, which tells one from all others"),
    (_RECORD.fullmatch, "one is like the number of a record"),
    (_OFFICIAL.fullmatch, "one is like a number of social security"),
    (_PLATE.fullmatch, "one is like the plate of a car"),
    (_PLACE.fullmatch, "one is like a postal address"),
    (_HANDLE.fullmatch, "one is like a name in a network"),
)


def naming_values(values: Sequence[str]) -> str:
    """Why values name people; empty: they do not.

    >>> naming_values(["a@b.de"]), naming_values(["+49 30 1234567"]), naming_values(["030/1234567"])
    ('one is an e-mail address', 'one is like a telephone number', 'one is like a telephone number')
    >>> naming_values(["2023-2024", "1961-03-04", "10.1.2.3", "10000-20000", "08.00-12.00", "01/2024-03/2024"])
    ''
    """
    if reason := _first_reason(values, _SURE):
        return reason
    if any(len(value.split()) >= _SENTENCE_WORDS for value in values):
        return "one is a sentence, as of a text that people write"
    return ""


def perhaps_naming_values(values: Sequence[str]) -> str:
    """Why values may name people, by their texts alone; empty: nothing says so.

    >>> perhaps_naming_values(["Anna Schmidt", "Bob Miller"]), perhaps_naming_values(["Full time", "Berlin"])
    ('most are two words with capital letters, as names are', '')
    """
    if are_written_names(values):
        return "most are two words with capital letters, as names are"
    if has_title_or_initial(values):
        return "one is a surname with an initial or a title"
    if reason := _first_reason(values, _PERHAPS):
        return reason
    if are_logins(values):
        return "most are two words with a dot, as names of users are"
    if len(values) > _MANY:
        return f"they are {len(values):,}"
    return ""


def perhaps_naming_in(column: str, values: Sequence[str]) -> str:
    """Why the texts of a column may name people, by its name and by names that many people have.

    >>> perhaps_naming_in("insurer", ["Schmidt", "Meier"]), perhaps_naming_in("clerk", ["Ahonen", "Nowicka"])
    ('some are names that many people have', 'its name says that it names people')
    >>> perhaps_naming_in("seen", ["Ahonen", "Nowicka"]), perhaps_naming_in("city", ["Turku", "Gdynia"])
    ('they are single words, as surnames are, and the column is not called as a kind or place', '')
    """
    if are_categories(values):
        return ""
    if are_common_names(values):
        return "some are names that many people have"
    if is_somebody(column):
        return "its name says that it names people"
    if are_single_names(values) and not is_category(column):
        return "they are single words, as surnames are, and the column is not called as a kind or place"
    return ""


def _first_reason(values: Sequence[str], known: Sequence[tuple[_Test, str]]) -> str:
    return next((reason for test, reason in known if any(map(test, values))), "")


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
