"""Public keys that look like what names people, by their own text: addresses, telephone numbers, names.

Dates, years, ranges, times and addresses of computers are the most usual public keys, so a telephone number is
told by how it begins and is parted, not by digits alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MAIL = re.compile(r"[^\s@]@[^\s@]+\.[^\s@]")
_TELEPHONE = re.compile(
    r"(\+|00[1-9])[0-9 ()/.-]{7,}[0-9]"  # +49 30 1234567
    r"|\(?0[1-9][0-9]{1,4}(\) ?|[ /-])[0-9]{3,}( ?[0-9]{2,})+"  # 030 1234567, (0170) 123 45 67
    r"|0[1-9]( [0-9]{2}){4}"  # 01 23 45 67 89
    r"|(\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[.-])[0-9]{3}[ .-][0-9]{4}"  # (555) 123-4567
)
_ACCOUNT = re.compile(r"[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?")
_SENTENCE_WORDS = 6
_NAME = re.compile(r"[^\W\d_a-z][^\W\d_]+,? [^\W\d_a-z][^\W\d_]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_RECORD = re.compile(r"[A-Za-z]{1,3}[ -]?[0-9]{6,}")
_HANDLE = re.compile(r"@\w{2,}|\S+\(at\)\S+|([\w-]+\.)+[a-z]{2,}/\S+")  # @anna, facebook.com/anna
_OFFICIAL = re.compile(r"[0-9]{3}-[0-9]{2}-[0-9]{4}")  # of the social security of the United States
_PLATE = re.compile(r"[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} ?[0-9]{1,4}")
_PLACE = re.compile(r"[^,]+ [0-9]+[a-z]?, [0-9]{4,5} \w.*")  # Hauptstr. 5, 80331 München
_MANY = 500


def naming_values(values: Sequence[str]) -> str:
    """Why values name people; empty: they do not.

    >>> naming_values(["a@b.de"]), naming_values(["+49 30 1234567"]), naming_values(["030/1234567"])
    ('one is an e-mail address', 'one is like a telephone number', 'one is like a telephone number')
    >>> naming_values(["2023-2024", "1961-03-04", "10.1.2.3", "10000-20000", "08.00-12.00", "01/2024-03/2024"])
    ''
    """
    if any(map(_MAIL.search, values)):
        return "one is an e-mail address"
    if any(map(_TELEPHONE.fullmatch, values)):
        return "one is like a telephone number"
    if any(map(_ACCOUNT.fullmatch, values)):
        return "one is like the number of a bank account"
    if any(len(value.split()) >= _SENTENCE_WORDS for value in values):
        return "one is a sentence, as of a text that people write"
    return ""


def perhaps_naming_values(values: Sequence[str]) -> str:
    """Why values may name people; empty: nothing says so.

    >>> perhaps_naming_values(["Anna Schmidt", "Bob Miller"]), perhaps_naming_values(["Full time", "Berlin"])
    ('most are two words with capital letters, as names are', '')
    """
    named = sum(1 for value in values if _NAME.fullmatch(value))
    if named > 1 and named * 2 > len(values):
        return "most are two words with capital letters, as names are"
    if any(map(_UUID.fullmatch, values)):
        return "one is a UUID, which tells one from all others"
    if any(map(_RECORD.fullmatch, values)):
        return "one is like the number of a record"
    if any(map(_OFFICIAL.fullmatch, values)):
        return "one is like a number of social security"
    if any(map(_PLATE.fullmatch, values)):
        return "one is like the plate of a car"
    if any(map(_PLACE.fullmatch, values)):
        return "one is like a postal address"
    if any(map(_HANDLE.fullmatch, values)):
        return "one is like a name in a network"
    if len(values) > _MANY:
        return f"they are {len(values):,}"
    return ""
