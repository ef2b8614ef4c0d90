"""Who presents a bearer token: one that `dpproxy token` made, or one of the OpenID Connect provider."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections import OrderedDict
from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus
from typing import Protocol

from starlette.requests import Request

from proxy.ledger.bearer_tokens import NewToken, is_token
from proxy.ledger.presented_tokens import TokenGrant
from proxy.servers.admission import Admission
from proxy.servers.http.http_problem import HttpProblem

_REMEMBERED = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """password None: the listener has let them in by itself. token: through which they come, if it is one of
    the ledger's. request: what they came with."""

    analyst: str
    password: str | None = None
    token: TokenGrant | None = None
    request: Request | None = None

    def __repr__(self) -> str:
        return f"Caller({self.analyst!r})"


class LedgerTokens(Protocol):
    async def find(self, presented: str) -> TokenGrant | None:
        """Refuses  Fault"""
        ...

    async def create(
        self, analyst: str, source: int, days: float, epsilon: Decimal, note: str
    ) -> NewToken:
        """Of the analyst's own making. Refuses  UserError, Fault"""
        ...


class ProviderTokens(Protocol):
    async def analyst_of(self, presented: str) -> str | None: ...


class Bearers:
    """
    Given    tokens, provider: either may be None, and lets nobody in then
    """

    def __init__(
        self,
        admission: Admission,
        tokens: LedgerTokens | None = None,
        provider: ProviderTokens | None = None,
    ) -> None:
        self._admission = admission
        self._tokens = tokens
        self._provider = provider
        self._secret = os.urandom(32)  # what tells two tokens apart is kept, not the tokens
        self._right: OrderedDict[bytes, None] = OrderedDict()

    def knows(self, presented: str) -> bool:
        """Whether it was right a while ago: who presents it is no stranger who guesses. It says no more."""
        return self._digest(presented) in self._right

    def label(self, presented: str) -> str:
        """Name a token without telling it."""
        return self._digest(presented).hex()

    async def caller(self, presented: str) -> Caller | None:
        """Asked anew each time. None: nobody that is let in. Refuses  Fault"""
        found = await self._caller(presented)
        digest = self._digest(presented)
        if found is None:
            self._right.pop(digest, None)
            return None
        self._right[digest] = None
        self._right.move_to_end(digest)
        if len(self._right) > _REMEMBERED:
            self._right.popitem(last=False)
        return found

    async def _caller(self, presented: str) -> Caller | None:
        if is_token(presented):
            token = None if self._tokens is None else await self._tokens.find(presented)
            return None if token is None else Caller(analyst=token.analyst, token=token)
        if self._provider is None:
            return None
        analyst = await self._provider.analyst_of(presented)
        if analyst is None or self._admission.number_of(analyst) is None:
            return None
        return Caller(analyst=analyst)

    async def new_token(
        self, analyst: str, source: int, days: float, epsilon: Decimal, note: str
    ) -> NewToken:
        """Refuses  HttpProblem 404 where no token of the ledger lets in; UserError; Fault"""
        if self._tokens is None:
            raise HttpProblem(HTTPStatus.NOT_FOUND, "tokens let nobody in here")
        return await self._tokens.create(analyst, source, days, epsilon, note)

    def _digest(self, presented: str) -> bytes:
        return hmac.new(self._secret, presented.encode(), hashlib.sha256).digest()
