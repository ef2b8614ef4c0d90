"""Names that speak of people: of tables, of columns that hold them, of columns that tell one from another.

Rules of thumb for a first draft that its owner reads: what they find is written down as a guess.
"""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
# In order: where a table refers to people of two kinds, the first is what it is most likely about.
_PEOPLE = (
    *("patient", "customer", "client", "person", "individual", "citizen", "resident", "inhabitant"),
    *("respondent", "participant", "subject", "student", "pupil", "member", "subscriber", "patron"),
    *(
        "passenger",
        "traveler",
        "traveller",
        "guest",
        "visitor",
        "voter",
        "donor",
        "tenant",
        "debtor",
    ),
    *("borrower", "applicant", "candidate", "claimant", "beneficiary", "policyholder", "insured"),
    *("holder", "household", "buyer", "shopper", "consumer", "viewer", "listener", "player"),
    *("user", "account", "profile", "reviewer", "author", "contact", "lead", "owner", "seller"),
    *("employee", "worker", "staff", "teacher", "doctor", "physician", "nurse", "driver", "agent"),
    *("salesperson", "rep", "manager", "operator"),
)
_ANYBODY = ("person", "individual", "user", "account", "member", "profile")
_PLURALS = {"people": "person", "persons": "person", "staff": "staff", "children": "child"}
_IDS = ("id", "no", "nr", "num", "number", "key", "uuid", "guid", "code", "ref", "pk", "sk", "fk")
_SUFFIXES = ("master", "table", "tbl", "data", "info", "list", "record", "dim", "base", "main")
_IDENTIFYING = {
    *(
        "email",
        "mail",
        "phone",
        "mobile",
        "tel",
        "telephone",
        "fax",
        "cell",
        "ssn",
        "nin",
        "passport",
    ),
    *(
        "iban",
        "bic",
        "address",
        "street",
        "surname",
        "firstname",
        "lastname",
        "fullname",
        "username",
    ),
    *("login", "password", "passwd", "pwd", "secret", "token", "ip", "imei", "mac", "signature"),
    *("photo", "picture", "avatar", "nickname", "license", "licence", "latitude", "longitude"),
}
_NAMED = ("first", "last", "full", "given", "family", "middle", "maiden", "user", "display", "nick")
_STRONG = {
    *(
        "email",
        "phone",
        "mobile",
        "ssn",
        "passport",
        "surname",
        "firstname",
        "lastname",
        "fullname",
    ),
    *("birth", "dob", "birthdate", "birthday", "password"),
}
_PERSONAL = _STRONG | {
    *("age", "sex", "gender", "race", "ethnicity", "religion", "nationality", "married", "marital"),
    *("income", "salary", "wage", "occupation", "education", "diagnosis", "citizenship"),
}


def words_of(name: str) -> tuple[str, ...]:
    """
    >>> words_of("CustomerID"), words_of("birth_date"), words_of("tbl2people")
    (('customer', 'id'), ('birth', 'date'), ('tbl', '2', 'people'))
    """
    return tuple(word.lower() for word in _WORDS.findall(name))


def singular(word: str) -> str:
    """
    >>> [singular(word) for word in ("people", "customers", "companies", "boxes", "address")]
    ['person', 'customer', 'company', 'box', 'address']
    """
    if word in _PLURALS:
        return _PLURALS[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def person_of_table(name: str) -> str | None:
    """What the rows of a table are, where its name says that they are people.

    >>> person_of_table("app_users"), person_of_table("customer_types"), person_of_table("CustomerMaster")
    ('user', None, 'customer')
    """
    words = [word for word in words_of(name) if not word.isdigit()]
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
    return _person(words[-1]) if words else None


def person_of_column(name: str) -> str | None:
    """Whom a column tells from others, where its name says so.

    >>> person_of_column("customer_id"), person_of_column("PatientNo"), person_of_column("pid")
    ('customer', 'patient', 'person')
    >>> person_of_column("reviewer"), person_of_column("id"), person_of_column("user_agent_id")
    ('reviewer', None, None)
    """
    words = list(words_of(name))
    if words in (["pid"], ["uid"]):
        return "person" if words == ["pid"] else "user"
    if len(words) == 1 and words[0].endswith("id") and len(words[0]) > 4:  # customerid
        words = [words[0][:-2], "id"]
    is_id = len(words) > 1 and words[-1] in _IDS
    selected = words[:-1] if is_id else words
    if not selected or len(selected) > 2 or "agent" in selected[1:]:
        return None
    return _person(selected[-1])


def is_number_of_something(column: str) -> bool:
    """Whether a column most likely holds numbers that tell things apart, which nobody adds up."""
    words = words_of(column)
    return bool(words) and words[-1] in _IDS


def rank_of(person: str) -> int:
    """The lower, the likelier that a table is about them."""
    return _PEOPLE.index(person) if person in _PEOPLE else len(_PEOPLE)


def is_anybody(person: str) -> bool:
    """Whether the word can stand for people of any kind."""
    return person in _ANYBODY


def is_identifying(column: str, *, of_people: bool) -> bool:
    """Whether what is in a column most likely names somebody.

    >>> is_identifying("email", of_people=False), is_identifying("name", of_people=False)
    (True, False)
    >>> is_identifying("name", of_people=True), is_identifying("last_name", of_people=False)
    (True, True)
    """
    words = words_of(column)
    if any(word in _IDENTIFYING for word in words) or "".join(words) in _IDENTIFYING:
        return True
    if words and words[-1] == "name":
        return of_people or (len(words) > 1 and words[-2] in _NAMED)
    return False


def personal_traits(columns: tuple[str, ...]) -> frozenset[str]:
    """Words of the columns that are about a person, as age and birth are."""
    found: set[str] = set()
    for column in columns:
        words = words_of(column)
        found.update(word for word in (*words, "".join(words)) if word in _PERSONAL)
        if len(words) > 1 and words[-1] == "name" and words[-2] in _NAMED[:6]:
            found.add("firstname")
    return frozenset(found)


def are_people(columns: tuple[str, ...]) -> bool:
    """Whether columns look as if each row were a person."""
    traits = personal_traits(columns)
    return len(traits) > 1 and bool(traits & _STRONG)


def _person(word: str) -> str | None:
    one = singular(word)
    if one in _PEOPLE:
        return one
    return one if one.endswith("person") else None
