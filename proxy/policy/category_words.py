"""Names of columns that sort rows into kinds, places, steps or amounts, and the values that such columns have.

What is none of these may hold names of people. A unit that is one of these tells nobody from others.
"""

from __future__ import annotations

from collections.abc import Sequence

from proxy.policy.person_words import is_of_an_organisation, singular, words_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLACES = _words(
    """
    city town place village country county region state province district area zone postcode
    postal zip plz address street road building floor room hall gate door tower cell site
    location station stop line route port airport harbour venue field court campus house stadt
    ort land kreis bezirk strasse gebiet raum halle zimmer ville pays commune departement ciudad
    pais provincia citta paese continent market territory ward unit desk counter seat bed
    terminal platform origin destination birthplace capital river mountain lake
    """
)
_KINDS = _words(
    """
    kind type category class group status state stage phase step level tier grade rank rating
    band bracket segment cluster label tag topic theme subject title genre species breed race
    ethnicity religion gender sex language nationality currency color colour size shape material
    brand make model product item sku article service plan package tariff offer campaign channel
    source medium device os browser platform version department division team section sector
    industry branch function job occupation profession role position education degree diploma
    course module faculty reason cause result outcome verdict decision answer choice method mode
    manner way form format shift season weekday day month quarter period year time slot era
    party diagnosis disease symptom drug medication treatment procedure test code icd atc organ
    tissue blood marital married smoker vote ballot sport discipline event game instrument tool
    machine vehicle car fuel engine payment card bank insurer insurance company firm supplier
    vendor manufacturer publisher school university hospital clinic store shop warehouse network
    operator_name carrier airline hotel restaurant cuisine dish food drink animal plant crop
    soil weather direction side priority severity urgency risk frequency flag indicator art typ
    sorte farbe marke produkt abteilung fach grund ergebnis beruf geschlecht sprache tarif kanal
    rubrik sparte couleur marque produit metier langue raison estado tipo clase categoria motivo
    idioma profesion color_name bezeichnung
    """
)
_AMOUNTS = _words(
    """
    amount price cost total sum count quantity qty number_of secs seconds minutes hours duration
    length width height weight age score points salary wage income rate percent share distance
    temperature speed volume betrag preis kosten anzahl menge dauer gewicht alter gehalt prix
    montant precio cantidad
    """
)
_VALUES = _words(
    """
    yes no other others none unknown new old open closed active inactive pending done high low
    medium male female divers north south east west centre center left right monday tuesday
    wednesday thursday friday saturday sunday january february march april june july august
    september october november december spring summer autumn winter gold silver bronze basic
    standard premium free pro red green blue black white yellow small large web phone mobile
    email cash credit debit private business public regular guest adult child early late won
    lost draw good bad fair poor excellent never always often ja nein andere unbekannt weitere
    offen neu alt aktiv maennlich weiblich nord sued ost oui non autre inconnu si otro null n/a
    single married divorced widowed sales marketing finance support engineering full part
    """
)


def is_category(column: str) -> bool:
    """Whether a column sorts its rows into kinds, places, steps or amounts.

    >>> [is_category(name) for name in ("city", "birth_place", "plan", "insurer", "clerk", "hausarzt")]
    [True, True, True, True, False, False]
    """
    words = [word for word in words_of(column) if not word.isdigit()]
    known = _PLACES | _KINDS | _AMOUNTS
    return any(word in known or singular(word) in known for word in words) or (
        is_of_an_organisation(column)
    )


def are_categories(values: Sequence[str]) -> bool:
    """Whether one value is what lists of kinds have, and lists of people have not.

    >>> are_categories(["Web", "Store"]), are_categories(["Schmidt", "Meier"])
    (True, False)
    """
    return any(value.lower() in _VALUES for value in values)


def tells_no_people_apart(column: str) -> bool:
    """Whether a column is called as a place, a kind or an amount, of which many people share one.

    >>> [tells_no_people_apart(name) for name in ("cell", "plz", "secs", "customer_id", "card_no")]
    [True, True, True, False, False]
    """
    words = [word for word in words_of(column) if not word.isdigit()]
    shared = (
        _PLACES
        | _AMOUNTS
        | _KINDS - {"card", "car", "vehicle", "device", "machine", "bank", "code"}
    )
    return bool(words) and words[-1] in shared and not {"phone", "number", "no", "nr"} & set(words)
