"""Names that speak of people: of tables, of columns that hold them, of columns that tell one from another.

Rules of thumb: `policy init` writes what they find as a guess, and `policy check` reports a policy that says
otherwise. Words of other languages are in proxy.policy.foreign_words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

from proxy.policy.foreign_words import (
    FOREIGN_IDENTIFYING,
    FOREIGN_IDS,
    FOREIGN_PEOPLE,
    FOREIGN_PERSONAL,
    FOREIGN_STRONG,
    FOREIGN_TEXTS,
)

_REMEMBERED = 10_000  # names: tables have the same columns
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "æ": "ae", "ı": "i"})
# In order: where a table refers to people of two kinds, the first is what it is most likely about.
_PEOPLE = (
    *("patient", "customer", "client", "person", "individual", "citizen", "resident", "inhabitant"),
    *("respondent", "participant", "subject", "student", "pupil", "member", "subscriber", "patron"),
    *("passenger", "traveler", "traveller", "guest", "visitor", "voter", "donor", "tenant"),
    *("debtor", "child", "accused", "caller", "callee", "pilgrim"),
    *("borrower", "applicant", "candidate", "claimant", "beneficiary", "policyholder", "insured"),
    *("holder", "household", "buyer", "shopper", "consumer", "viewer", "listener", "player"),
    *("user", "account", "profile", "reviewer", "author", "contact", "lead", "owner", "seller"),
    *("employee", "worker", "staff", "teacher", "doctor", "physician", "nurse", "driver", "agent"),
    *("salesperson", "rep", "manager", "operator", "clinician", "therapist", "dentist", "midwife"),
    *("practitioner", "caregiver", "volunteer", "recipient", "attendee", "inmate", "parent"),
    *(
        "reader",
        "colleague",
        "freelancer",
        "contractor",
        "lawyer",
        "learner",
        "defendant",
        "victim",
    ),
)
_ABBREVIATED = {
    **dict.fromkeys(("cust", "kd"), "customer"),
    **{"pat": "patient", "emp": "employee", "usr": "user", "pers": "person", "acct": "account"},
    **{"stud": "student", "appl": "applicant", "mbr": "member", "empl": "employee"},
    "kid": "child",
}
# Of accounts in a ledger, agents in a reaction and subjects at a school as well.
_FOR_THINGS_TOO = {
    *(
        "account",
        "acct",
        "agent",
        "conductor",
        "contact",
        "holder",
        "konto",
        "lead",
        "lid",
        "operator",
    ),
    *("parent", "subject"),
}
# Of companies, applications, badges and lists as well, though a table of that name is most likely of people.
_PERHAPS_OF_THINGS = _FOR_THINGS_TOO | {"candidate", "client", "customer", "profile", "reader"}
# Of the people in the rows, those behind serve the others: a visit is the patient's, not the doctor's.
_LAST_SERVED = "user"
_PUBLISHED = ("author",)
_PARTIES = (
    *(("a", "b"), ("1", "2"), ("from", "to"), ("src", "dst"), ("source", "target"), ("von", "an")),
    *(("caller", "callee"), ("calling", "called"), ("sender", "recipient"), ("sender", "receiver")),
    *(("payer", "payee"), ("buyer", "seller"), ("husband", "wife"), ("mann", "frau")),
    *(("first", "second"), ("follower", "followed"), ("follower", "followee"), ("left", "right")),
    *(("debtor", "creditor"), ("winner", "loser"), ("home", "away"), ("victim", "offender")),
    *(("absender", "empfaenger"), ("inviter", "invitee"), ("mother", "father"), ("bride", "groom")),
)
_ORGANISATIONS = {
    *("insurer", "office", "site", "branch", "store", "shop", "company", "supplier", "vendor"),
    *("hospital", "clinic", "school", "department", "station", "hotel", "warehouse", "agency"),
    *("bank", "institution", "organisation", "organization", "facility", "practice", "ward"),
    *("publisher", "brand", "manufacturer", "airline", "carrier", "partner", "authority"),
    *("laboratory", "lab", "pharmacy", "library", "university", "restaurant", "location"),
    *("precinct", "party", "parish", "embassy", "court", "union", "church", "council", "ministry"),
    *("committee", "association", "federation", "foundation", "municipality", "partei", "verein"),
    *("standard", "line", "filiale", "firma", "praxis", "klinik", "schule", "lieferant"),
}
_CONTACTS = {
    *("email", "mail", "phone", "mobile", "tel", "telephone", "telefon", "fax", "cell"),
    *("passport", "emails", "phones", "iban", "website"),
}
_ANYBODY = ("person", "individual", "user", "account", "member", "profile")
_PLURALS = {"people": "person", "persons": "person", "staff": "staff", "children": "child"}
_PLURALS |= {"personnel": "staff", "midwives": "midwife", "salespeople": "salesperson"}
_IDS = (
    *("id", "no", "nr", "num", "number", "key", "uuid", "guid", "code", "ref", "pk", "sk", "fk"),
    *FOREIGN_IDS,
)
_SUFFIXES = (
    *("master", "table", "tbl", "data", "info", "list", "record", "dim", "base", "main"),
    *("records", "details", "copy", "backup", "bak", "archive", "export", "import", "dump", "old"),
    *("new", "current", "all", "tmp", "temp", "staging", "stage", "raw", "view", "vw", "v", "mv"),
    *("snapshot", "register", "registry", "directory", "stamm", "liste", "daten", "tabelle"),
)
_MARKS = ("handle", "plate", "numberplate", "plates")  # doors have handles, too
_IDENTIFYING = {
    *("email", "mail", "phone", "mobile", "tel", "telephone", "fax", "cell", "ssn", "nin"),
    *("passport", "iban", "bic", "address", "street", "surname", "firstname", "lastname"),
    *("fullname", "username", "login", "password", "passwd", "pwd", "secret", "token", "ip"),
    *("imei", "mac", "signature", "photo", "picture", "avatar", "nickname", "license", "licence"),
    *("latitude", "longitude", "forename", "fname", "lname", "givenname", "familyname", "maiden"),
    *("middlename", "cellphone", "msisdn", "whatsapp", "skype", "nino", "creditcard", "pan"),
    *("passphrase", "emails", "phones", "addresses", "initials", "fingerprint", "biometric"),
    *_MARKS,
    "mrn",
    *FOREIGN_IDENTIFYING,
}
# Of things as well as of people: by themselves they do not say that a row is a person.
_OF_THINGS = {
    *("address", "addresses", "street", "latitude", "longitude", "license", "licence", "photo"),
    *("picture", "token", "secret", "signature", "ip", "mac", "mail", "fax", "pan", "avatar"),
    *("bic", "initials", "fingerprint", "adresse", "adres", "adress", "indirizzo", "direccion"),
    *_MARKS,
    *("endereco", "strasse", "rue", "calle", "straat", "gata", "via", "ulica", "foto", "bild"),
}
_NAMED = ("first", "last", "full", "given", "family", "middle", "maiden", "user", "display", "nick")
_NUMBERED = ("passport", "insurance", "security", "tax", "national", "identity", "licence")
_STRONG = {
    *("email", "phone", "mobile", "ssn", "passport", "surname", "firstname", "lastname"),
    *("fullname", "birth", "dob", "birthdate", "birthday", "password", "born", "dateofbirth"),
    *("forename", "fname", "lname", "givenname", "familyname", "yob", "emails", "phones"),
    *FOREIGN_STRONG,
}
_BIRTHS = {
    *("birth", "dob", "birthdate", "birthday", "born", "dateofbirth", "yob", "geburtsdatum"),
    *("geburtstag", "geburt", "geboren", "naissance", "nacimiento", "nascimento", "nascita"),
    *("geboortedatum", "geboorte", "urodzenia", "fodselsdato", "fodelsedatum", "fodt", "fodd"),
}
_PERSONAL = (
    _STRONG
    | {
        *("age", "sex", "gender", "race", "ethnicity", "religion", "nationality", "married"),
        *("marital", "income", "salary", "wage", "occupation", "education", "diagnosis"),
        *("citizenship",),
    }
    | FOREIGN_PERSONAL
)
# Long enough that a word which begins or ends with one is about it: emailaddress, customeremail.
_PARTS = tuple(sorted(word for word in (_IDENTIFYING | _STRONG) - _OF_THINGS if len(word) >= 5))
_NEVER_LAST = ("phone", "phones", "mobile", "birth", "login")  # microphone, automobile
# Of what a column with such a last word tells: email_verified, phone_type
_ABOUT_ONE = {
    *("type", "kind", "status", "count", "verified", "domain", "provider", "consent", "flag"),
    *("template", "templates", "vorlage", "method", "methods", "policy", "setting", "settings"),
    *("format", "mode", "opt", "optin", "model", "brand", "confirmed", "allowed", "typ", "anzahl"),
}
_GIVEN_NAMES = {
    *("vorname", "firstname", "forename", "givenname", "prenom", "voornaam", "fornavn", "fornamn"),
    *("surname", "lastname", "familyname", "nachname", "familienname", "imie", "nazwisko"),
    *("achternaam", "efternamn", "etternavn", "apellido", "sobrenome", "cognome"),
}
_FREQUENCIES = {
    *("count", "counts", "n", "number", "frequency", "freq", "rank", "total", "haeufigkeit"),
    *("haufigkeit", "anzahl", "rang", "nombre", "frecuencia", "aantal", "antal", "year", "jahr"),
}
_TEXTS = {
    *("comment", "comments", "note", "notes", "remark", "remarks", "message", "messages"),
    *("feedback", "freetext", "memo", "body", "complaint", "anamnesis", "narrative", "transcript"),
    *("testimonial", "reply", "replies", "letter", "annotation", "notepad", "wish", "wishes"),
    *FOREIGN_TEXTS,
}


@lru_cache(maxsize=_REMEMBERED)
def words_of(name: str) -> tuple[str, ...]:
    """
    >>> words_of("CustomerID"), words_of("birth_date"), words_of("tbl2people")
    (('customer', 'id'), ('birth', 'date'), ('tbl', '2', 'people'))
    >>> words_of("Prénom"), words_of("Straße")
    (('prenom',), ('strasse',))
    """
    plain = unicodedata.normalize("NFKD", name.translate(_LETTERS))
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return tuple(word.lower() for word in _WORDS.findall(letters))


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


def person_named(word: str) -> str:
    """The word of the list that a word stands for, in singular or plural, short or of another language.

    Args:
        word: An identifier of a policy.

    Returns:
        The word itself in singular, without its marks, where it stands for none.

    >>> [person_named(word) for word in ("kid", "kids", "Kunde", "children", "Chip_Card")]
    ['child', 'child', 'customer', 'child', 'chipcard']
    """
    plain = "".join(words_of(word))
    return _person(plain) or singular(plain)


def listed_words() -> tuple[str, ...]:
    """Give the English words for people, short ones too, in singular."""
    return (*_PEOPLE, *_ABBREVIATED)


@lru_cache(maxsize=_REMEMBERED)
def person_of_table(name: str) -> str | None:
    """What the rows of a table are, where its name says that they are people.

    >>> person_of_table("app_users"), person_of_table("customer_types"), person_of_table("CustomerMaster")
    ('user', None, 'customer')
    >>> person_of_table("customers_2024_backup"), person_of_table("Kundenstamm"), person_of_table("clientes")
    ('customer', 'customer', 'client')
    """
    words = [word for word in words_of(name) if not word.isdigit()]
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
    if not words:
        return None
    last = words[-1]
    for suffix in _SUFFIXES:  # userlist, kundenstamm
        stem = last.removesuffix(suffix)
        if len(suffix) > 2 and len(stem) > 3 and stem != last and _person(stem) is not None:
            return _person(stem)
    return _person(last)


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
    if len(words) == 1:
        words = _parted(words[0])
    if len(words) > 1 and words[0] in _IDS and words[-1] not in _IDS:
        words = [*words[1:], words[0]]  # id_cliente
    is_id = len(words) > 1 and words[-1] in _IDS
    selected = words[:-1] if is_id else words
    if not selected or len(selected) > 2 or "agent" in selected[1:]:
        return None
    return _person(selected[-1])


def _parted(word: str) -> list[str]:
    """A word that ends as a number of something does, in two: customerid, kundennummer."""
    for end in ("id", "number", "nummer", "nr", "no"):
        stem = word.removesuffix(end)
        if stem != word and len(stem) > 2 and _person(stem) is not None:
            return [stem, end]
    return [word]


def is_id_of_person(column: str) -> bool:
    """Whether a column's name says that it holds the number of a person.

    >>> is_id_of_person("customer_id"), is_id_of_person("customer"), is_id_of_person("order_id")
    (True, False, False)
    >>> is_id_of_person("id_cliente"), is_id_of_person("kundennummer"), is_id_of_person("covid")
    (True, True, False)
    """
    words = words_of(column)
    if len(words) == 1:
        return words[0] in ("pid", "uid") or len(_parted(words[0])) > 1
    is_id = bool(words) and (words[0] in _IDS or words[-1] in _IDS)
    return is_id and person_of_column(column) is not None


def is_number_of_something(column: str) -> bool:
    """Whether a column most likely holds numbers that tell things apart, which nobody adds up."""
    words = words_of(column)
    return bool(words) and words[-1] in _IDS


def rank_of(person: str) -> int:
    """The lower, the likelier that a table is about them."""
    return _PEOPLE.index(person) if person in _PEOPLE else len(_PEOPLE)


def is_sure(person: str) -> bool:
    """Whether a word stands for people and for nothing else.

    >>> [is_sure(word) for word in ("student", "subject", "customer", "gladiator")]
    [True, False, False, False]
    """
    return person in _PEOPLE and person not in _PERHAPS_OF_THINGS


def is_served(person: str, columns: tuple[str, ...] = ()) -> bool:
    """Whether a word stands for people whom a row is about, not for those who serve them. columns: of the table
    that lists them, which can say that customers are no companies.

    >>> [is_served(word) for word in ("patient", "user", "doctor", "customer", "subject")]
    [True, True, False, False, False]
    >>> is_served("customer", ("company", "phone")), is_served("customer", ("last_name", "phone"))
    (False, True)
    """
    if person not in _PEOPLE or rank_of(person) > rank_of(_LAST_SERVED):
        return False
    return is_sure(person) or any(names_a_person(one) and not is_contact(one) for one in columns)


def is_known(person: str) -> bool:
    """Whether the word is one of the list."""
    return person in _PEOPLE


def is_perhaps_of_things(person: str) -> bool:
    """Whether a word for people stands for things as well: account, client.

    >>> [is_perhaps_of_things(word) for word in ("account", "client", "student", "gladiator")]
    [True, True, False, False]
    """
    return person in _PERHAPS_OF_THINGS


def is_account(person: str) -> bool:
    """Whether the word stands for what a person has, or for a thing: a person can have more than one."""
    return person in _FOR_THINGS_TOO or person == "profile"


def are_counterparts(column: str, other: str) -> bool:
    """Whether two columns name the two parties of a row.

    >>> are_counterparts("a_number", "b_number"), are_counterparts("sender_id", "recipient_id")
    (True, True)
    >>> are_counterparts("caller", "callee"), are_counterparts("patient_id", "visit_id")
    (True, False)
    """
    one, two = words_of(column), words_of(other)
    if len(one) != len(two):
        return False
    differing = [(a, b) for a, b in zip(one, two, strict=True) if a != b]
    return len(differing) == 1 and any(set(differing[0]) == {a, b} for a, b in _PARTIES)


def listed_person(column: str, known: Collection[str]) -> str | None:
    """The word for people whom a column may list: member_ids. known: further words.

    >>> listed_person("member_ids", ()), listed_person("gladiators", ("gladiator",)), listed_person("tags", ())
    ('member', 'gladiator', None)
    """
    for word in words_of(column):
        if singular(word) in known or word in known:
            return singular(word)
        if (person := _person(word)) is not None:
            return person
    return None


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
    if words and words[-1] in ("name", "nm"):
        return of_people or names_a_person(column)
    if is_birth(column):
        return True
    return _has_part(words) or _is_official_number(words)


def is_birth(column: str) -> bool:
    """Whether a column most likely says when somebody was born.

    >>> is_birth("born"), is_birth("birth_date"), is_birth("birth_rate"), is_birth("joined")
    (True, True, False, False)
    """
    words = words_of(column)
    is_rate = bool(words) and (words[-1] in _ABOUT_ONE or words[-1] == "rate")
    return not is_rate and any(word in _BIRTHS for word in (*words, "".join(words)))


def is_contact(column: str) -> bool:
    """Whether a column may be the telephone or address of an organisation: one word, or `phone_number`.

    >>> is_contact("email"), is_contact("phone_number"), is_contact("patient_email")
    (True, True, False)
    """
    words = [word for word in words_of(column) if word not in _IDS]
    return "".join(words) in _CONTACTS or (bool(words) and set(words) <= _CONTACTS)


def is_of_an_organisation(table: str) -> bool:
    """
    >>> is_of_an_organisation("offices"), is_of_an_organisation("crew")
    (True, False)
    """
    words = [word for word in words_of(table) if not word.isdigit()]
    return bool(words) and singular(words[-1]) in _ORGANISATIONS


def is_word_for_things_too(table: str) -> bool:
    """Whether the word of a table for people stands for things as well.

    >>> is_word_for_things_too("accounts"), is_word_for_things_too("customers")
    (True, False)
    """
    words = [word for word in words_of(table) if not word.isdigit() and word not in _SUFFIXES]
    return bool(words) and singular(words[-1]) in _FOR_THINGS_TOO


def is_published(table: str) -> bool:
    """Whether the word of a table is of people whose names and years of birth are in every library.

    >>> is_published("authors"), is_published("users")
    (True, False)
    """
    words = [word for word in words_of(table) if not word.isdigit() and word not in _SUFFIXES]
    return bool(words) and singular(words[-1]) in _PUBLISHED


def is_frequency(column: str) -> bool:
    """Whether a column most likely says how often something is there.

    >>> is_frequency("haeufigkeit"), is_frequency("n"), is_frequency("salary")
    (True, True, False)
    """
    return "".join(words_of(column)) in _FREQUENCIES


def is_given_name(column: str) -> bool:
    """
    >>> is_given_name("vorname"), is_given_name("first_name"), is_given_name("email")
    (True, True, False)
    """
    return "".join(words_of(column)) in _GIVEN_NAMES


def is_of_kinds(table: str) -> bool:
    """Whether the rows of a table are kinds of something: login_methods, phone_types."""
    words = words_of(table)
    return len(words) > 1 and (words[-1] in _ABOUT_ONE or singular(words[-1]) in _ABOUT_ONE)


def tells_people_apart(column: str) -> bool:
    """Whether the rows of a person most likely have the same value in a column, and those of others another.

    >>> [tells_people_apart(name) for name in ("email", "mrn", "last_name", "plate", "born", "address")]
    [True, True, True, True, False, False]
    """
    is_mark = any(word in _MARKS for word in words_of(column))
    return is_mark or (names_a_person(column) and not is_birth(column))


def names_a_person(column: str) -> bool:
    """Whether a column most likely says who somebody is, also in a table whose rows need not be people: not
    addresses and pictures, which things have as well.

    >>> [names_a_person(name) for name in ("userEmail", "Geburtsdatum", "e-mail", "last_name", "born")]
    [True, True, True, True, True]
    >>> [names_a_person(name) for name in ("name", "address", "title", "microphone", "mail_count")]
    [False, False, False, False, False]
    """
    words = words_of(column)
    if words and words[-1] in _ABOUT_ONE:
        return False
    sure = (_IDENTIFYING | _STRONG) - _OF_THINGS
    if any(word in sure for word in (*words, "".join(words))) or _has_part(words):
        return True
    if len(words) > 1 and words[-1] in ("name", "nm"):
        return words[-2] in _NAMED or _person(words[-2]) is not None
    return _is_official_number(words)


def is_free_text(column: str) -> bool:
    """Whether people most likely write into a column what they like.

    >>> is_free_text("customer_comment"), is_free_text("Bemerkung"), is_free_text("status")
    (True, True, False)
    """
    words = words_of(column)
    text = "".join(words)
    if "free" in words and "text" in words:
        return True
    return any(word in _TEXTS for word in (*words, text)) or any(
        text.endswith(word) or text.startswith(word) for word in _TEXTS if len(word) >= 7
    )


@lru_cache(maxsize=_REMEMBERED)
def _has_part(words: tuple[str, ...]) -> bool:
    """By words that are written together, and by the whole name."""
    return any(
        word.startswith(_PARTS)
        or any(word.endswith(part) for part in _PARTS if part not in _NEVER_LAST)
        for word in (*words, "".join(words))
    )


def _is_official_number(words: tuple[str, ...]) -> bool:
    return len(words) > 1 and words[-1] in _IDS and words[-2] in _NUMBERED


def personal_traits(columns: tuple[str, ...]) -> frozenset[str]:
    """Words of the columns that are about a person, as age and birth are."""
    found: set[str] = set()
    for column in columns:
        words = words_of(column)
        if words and words[-1] in _ABOUT_ONE:
            continue
        found.update(word for word in (*words, "".join(words)) if word in _PERSONAL)
        if len(words) > 1 and words[-1] == "name" and words[-2] in _NAMED[:6]:
            found.add("firstname")
    return frozenset(found)


def are_people(columns: tuple[str, ...], table: str) -> bool:
    """Whether columns look as if each row of a table were a person."""
    if is_of_an_organisation(table):
        columns = tuple(column for column in columns if not is_contact(column))
    traits = personal_traits(columns)
    return len(traits) > 1 and bool(traits & _STRONG)


def _person(word: str) -> str | None:
    one = singular(word)
    if one in _PEOPLE:
        return one
    if one in _ABBREVIATED or word in _ABBREVIATED:
        return _ABBREVIATED.get(one) or _ABBREVIATED[word]
    if word in FOREIGN_PEOPLE or one in FOREIGN_PEOPLE:
        return FOREIGN_PEOPLE.get(word) or FOREIGN_PEOPLE[one]
    return one if one.endswith("person") else None
