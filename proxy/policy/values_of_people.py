"""Public keys that look like what names people, by their own text: addresses, telephone numbers, names.

Dates, years, ranges, times and addresses of computers are the most usual public keys, so a telephone number is
told by how it begins and is parted, not by digits alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from proxy.policy.category_words import are_categories, is_category
from proxy.policy.person_words import person_of_column, singular, words_of

# Texts that are written as names of people are, and names that many people have.
#
# Surnames alone look as places and brands do. So a capital letter says nothing by itself: the column's name has
# to say that the values are no categories, or the names have to be common ones.

_TITLES = r"(?:Dr|Prof|Mr|Mrs|Ms|Miss|Herr|Frau|Mme|Mlle|Sr|Sra|Dott|Ing|Hr|Fr)\.?"
_PART = (
    r"(?:[^\W\d_a-z]['’])?[^\W\d_a-z][^\W\d_]+(?:-[^\W\d_a-z][^\W\d_]+)*"  # O'Brien, Schmidt-Meier
)
_FULL = re.compile(rf"{_PART}(?:,? {_PART}){{1,3}}")
# A. Schmidt; Schmidt, A.
_INITIAL = re.compile(rf"(?:[^\W\d_a-z]\. ?)+{_PART}|{_PART},? [^\W\d_a-z]\.?")
_TITLED = re.compile(rf"{_TITLES} (?:{_PART}[ ,]*)+")
_SINGLE = re.compile(rf"{_PART}")
_LOGIN = re.compile(r"[a-z]{2,}[._][a-z]{2,}")  # anna.schmidt
_TOKEN = re.compile(r"[^\W\d_]+")
# Names in scripts without capital letters: 王小明, 김철수, さくら
_EASTERN = re.compile(r"[\u4e00-\u9fff]{2,4}|[\uac00-\ud7a3]{2,4}|[\u3040-\u30ff]{2,6}")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# None that is a place, a colour, a month or a trade in English as well.
_COMMON = _words(
    """
    anna anne maria marie mary elena laura julia sarah sara lisa emma hannah sophie lena
    katharina susanne petra monika sabine ursula ingrid karin nicole stefanie martina birgit
    heike jennifer jessica linda patricia elizabeth barbara susan karen nancy betty sandra
    ashley kimberly emily michelle carol amanda melissa deborah rebecca kathryn catherine
    isabelle nathalie celine chantal carmen pilar lucia giulia francesca chiara agnieszka
    katarzyna malgorzata joanna ewa olga natalia svetlana tatiana irina fatima aisha priya john
    james robert michael david william richard joseph thomas charles christopher daniel matthew
    anthony steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason
    jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin scott brandon benjamin
    samuel gregory patrick peter hans klaus juergen jurgen wolfgang stefan andreas markus
    thorsten uwe bernd heinz helmut gerhard werner dieter manfred lukas felix leon jonas tobias
    sebastian florian pierre jean michel philippe nicolas julien antonio jose manuel francisco
    javier carlos miguel pedro luis jorge giuseppe giovanni marco luca alessandro andrea piotr
    krzysztof andrzej tomasz pawel jan ivan dmitri sergei vladimir alexei mohammed mohamed
    muhammad ahmed ali hassan omar rajesh amit sanjay wei ming hiroshi kenji smith johnson
    williams jones garcia davis rodriguez martinez hernandez gonzalez wilson anderson moore
    martin lee perez thompson harris sanchez clark ramirez lewis robinson walker allen wright
    torres nguyen flores adams nelson mitchell roberts carter phillips evans turner diaz parker
    cruz edwards collins reyes stewart morris morales murphy rogers gutierrez ortiz morgan
    cooper peterson bailey reed kelly howard ramos richardson watson brooks chavez bennett gray
    mendoza ruiz hughes alvarez castillo sanders patel myers foster jimenez mueller muller
    schmidt schneider fischer weber meyer meier maier mayer wagner becker schulz hoffmann
    schaefer schafer koch bauer richter klein schroeder schroder neumann schwarz zimmermann
    braun krueger kruger hofmann hartmann lange schmitt krause lehmann schmid schulze koehler
    kohler herrmann huber kaiser fuchs peters lang scholz moeller moller weiss jung hahn
    schubert vogel friedrich keller guenther berger winkler roth beck lorenz baumann franke
    albrecht schuster boehm bohm winter kraus schumacher vogt stein dubois durand leroy moreau
    simon laurent lefebvre bertrand roux fournier girard bonnet lambert rossi russo ferrari
    esposito bianchi romano ricci marino greco bruno gallo conti mancini costa giordano rizzo
    lombardi moretti silva santos ferreira pereira oliveira rodrigues fernandes gomes lopes
    marques almeida ribeiro pinto carvalho teixeira moreira correia nunes vieira nowak kowalski
    kowalczyk wisniewski wojcik kaminski lewandowski zielinski szymanski dejong jansen devries
    vandenberg bakker visser smit meijer mulder bos vos hansen johansen olsen larsen andersen
    pedersen nilsen kristiansen jensen karlsen johansson andersson karlsson nilsson eriksson
    larsson olsson persson svensson gustafsson nielsen christensen rasmussen sorensen ivanov
    petrov sidorov kuznetsov popov yilmaz kaya demir celik sahin obrien oconnor byrne singh
    kumar sharma khan
    """
)
_LONG = tuple(sorted(name for name in _COMMON if len(name) >= 5))


def are_written_names(values: Sequence[str]) -> bool:
    """Whether most values are several words with capital letters.

    >>> are_written_names(["Anna-Lena Schmidt-Meier", "Jean Paul Sartre", "O'Brien, Pat"])
    True
    >>> are_written_names(["Full time", "Berlin"])
    False
    """
    named = sum(1 for value in values if _FULL.fullmatch(value))
    return named > 1 and named * 2 > len(values)


def has_title_or_initial(values: Sequence[str]) -> bool:
    """Whether a value is a surname with an initial or a title.

    >>> [has_title_or_initial([value]) for value in ("A. Schmidt", "Dr. Meyer", "St. Gallen")]
    [True, True, False]
    """
    return any(_INITIAL.fullmatch(value) or _TITLED.fullmatch(value) for value in values)


def are_common_names(values: Sequence[str]) -> bool:
    """Whether two values, and a third of all, have a name that many people have. One value is enough
    where it is the only one.

    >>> [are_common_names(values) for values in (["Schmidt", "Meier"], ["anna schmidt"], ["aschmidt"])]
    [True, True, True]
    >>> are_common_names(["Berlin", "Hamburg"]), are_common_names(["martini", "manual", "annual"])
    (False, False)
    """
    named = sum(1 for value in values if _has_common_name(value))
    return named > 0 and named >= min(2, len(values)) and named * 3 >= len(values)


def _has_common_name(value: str) -> bool:
    words = [_plain(word) for word in _TOKEN.findall(value)]
    if any(word in _COMMON for word in (*words, "".join(words))):
        return True
    # A login of one or two initials: aschmidt, schmidta
    return len(words) == 1 and any(
        word in _LONG for word in (words[0][1:], words[0][2:], words[0][:-1], words[0][:-2])
    )


def are_single_names(values: Sequence[str]) -> bool:
    """Whether all values are single words that begin as names do, or are of scripts without capital letters.

    >>> are_single_names(["Ahonen", "Nowicka"]), are_single_names(["王小明", "李雷"])
    (True, True)
    >>> are_single_names(["CA", "TX"]), are_single_names(["open", "closed"])
    (False, False)
    """
    return len(values) > 1 and all(
        _EASTERN.fullmatch(value) or (_SINGLE.fullmatch(value) and not value.isupper())
        for value in values
    )


def are_logins(values: Sequence[str]) -> bool:
    """Whether most values are two small words with a dot between them.

    >>> are_logins(["anna.schmidt", "bob.miller"]), are_logins(["a.b", "v1.2"])
    (True, False)
    """
    return sum(1 for value in values if _LOGIN.fullmatch(value)) * 2 > len(values)


def _plain(word: str) -> str:
    letters = unicodedata.normalize("NFKD", word.replace("ß", "ss").replace("ø", "o"))
    return "".join(one for one in letters if not unicodedata.combining(one)).lower()


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
