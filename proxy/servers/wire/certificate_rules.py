"""Which certificates of clients let whom in: lines like those of pg_hba.conf; the first that matches counts.

    # DATABASE  USER        CERTIFICATE          METHOD
    all         alice       cn=alice.laptop      cert
    shop        +research   any                  cert+password
    all         all         none                 reject

A connection that no line matches is refused, and a file with a line that is not understood is not served with.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

_COLUMNS = ("DATABASE", "USER", "CERTIFICATE", "METHOD")
_KINDS = ("cn", "dns", "email", "uri")
_ALL, _ANY, _NONE, _USER = "all", "any", "none", "{user}"
_SAN = {"DNS": "dns", "email": "email", "URI": "uri"}  # as ssl names them
_RULES_MAX = 10_000


class LoginMethod(Enum):
    """CERT: the certificate is enough; BOTH: the password, too."""

    PASSWORD = "password"  # noqa: S105
    CERT = "cert"
    BOTH = "cert+password"
    REJECT = "reject"


class RulesError(ValueError):
    """A line that is not understood; the text says which."""


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """Of a certificate that was verified: what it is called, by kind."""

    names: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _CertificateRule:
    databases: tuple[str, ...]
    users: tuple[str, ...]
    kind: str  # of a certificate's names, or any, none
    value: str
    method: LoginMethod


class CertificateRules:
    """
    Given    the lines; is_in: whether an analyst is in a group
    """

    def __init__(
        self, rules: Sequence[_CertificateRule], is_in: Callable[[str, str], bool]
    ) -> None:
        self._rules = tuple(rules)
        self._is_in = is_in

    def method(
        self, database: str, user: str, certificate: ClientCertificate | None
    ) -> LoginMethod:
        """REJECT also where no line matches. certificate: None of who has shown none."""
        for rule in self._rules:
            if (
                (_ALL in rule.databases or database in rule.databases)
                and any(self._is_user(one, user) for one in rule.users)
                and _has(rule, user, certificate)
            ):
                return rule.method
        return LoginMethod.REJECT

    def _is_user(self, written: str, user: str) -> bool:
        if written.startswith("+"):
            return self._is_in(user, written[1:])
        return written in (_ALL, user)


def _has(rule: _CertificateRule, user: str, certificate: ClientCertificate | None) -> bool:
    if rule.kind == _NONE:
        return certificate is None
    if certificate is None:
        return False
    wanted = user if rule.value == _USER else rule.value
    return rule.kind == _ANY or wanted in certificate.names.get(rule.kind, ())


def certificate_of(peer: Mapping[str, Any] | None) -> ClientCertificate | None:
    """
    Given    what ssl says of a peer's certificate that it has verified

    >>> certificate_of({"subject": ((("commonName", "a"),),), "subjectAltName": (("DNS", "b"),)}).names["dns"]
    frozenset({'b'})
    """
    if not peer:
        return None
    subject = [pair for line in peer.get("subject", ()) for pair in line]
    common = [value for key, value in subject if key == "commonName"]
    names: dict[str, set[str]] = {kind: set() for kind in _KINDS}
    if len(common) == 1:  # of several, which one counts differs between readers
        names["cn"].add(common[0])
    for key, value in peer.get("subjectAltName", ()):
        if key in _SAN:
            names[_SAN[key]].add(value)
    return ClientCertificate({kind: frozenset(found) for kind, found in names.items()})


def read_rules(text: str, is_in: Callable[[str, str], bool]) -> CertificateRules:
    """
    >>> rules = read_rules("all all cn={user} cert", lambda user, group: False)
    >>> rules.method("shop", "alice", None).value
    'reject'

    Refuses  RulesError
    """
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise RulesError(f"line {number}: {error}") from None
        if words:
            rules.append(_rule(number, words))
    if not rules:
        raise RulesError("it has no rule, so nobody could log in")
    if len(rules) > _RULES_MAX:
        raise RulesError(f"it has more than {_RULES_MAX} rules")
    return CertificateRules(rules, is_in)


def _rule(number: int, words: Sequence[str]) -> _CertificateRule:
    if len(words) != len(_COLUMNS):
        raise RulesError(f"line {number}: a rule is {' '.join(_COLUMNS)}")
    databases, users, certificate, method = words
    kind, equals, value = certificate.partition("=")
    if not (certificate in (_ANY, _NONE) or (equals and kind in _KINDS and value)):
        kinds = ", ".join(f"{one}=NAME" for one in _KINDS)
        raise RulesError(f"line {number}: a certificate is any, none, {kinds}")
    try:
        wanted = LoginMethod(method)
    except ValueError:
        known = ", ".join(one.value for one in LoginMethod)
        raise RulesError(f"line {number}: a method is one of {known}") from None
    rule = _CertificateRule(
        databases=_names(number, databases),
        users=_names(number, users),
        kind=kind,
        value=value,
        method=wanted,
    )
    if wanted is LoginMethod.BOTH and kind == _NONE:
        raise RulesError(f"line {number}: {method} needs a certificate")
    if wanted is LoginMethod.CERT:
        if kind in (_ANY, _NONE):
            raise RulesError(f"line {number}: cert needs the name that the certificate must have")
        is_many = len(rule.users) > 1 or rule.users[0] == _ALL or rule.users[0].startswith("+")
        if is_many and value != _USER:
            raise RulesError(
                f"line {number}: one certificate would be several users: name one, or write {kind}={_USER}"
            )
    return rule


def _names(number: int, text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if "" in names or "+" in names:
        raise RulesError(f"line {number}: a name is empty")
    return names
