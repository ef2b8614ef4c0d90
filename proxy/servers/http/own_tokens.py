"""Tokens that analysts make for agents and conversations of theirs."""

from __future__ import annotations

import json
from decimal import Decimal
from http import HTTPStatus

from proxy.base.errors import Code
from proxy.ledger.users import UserError
from proxy.servers.http.analyst_models import CreatedToken, OwnTokenRequest
from proxy.servers.http.bearers import Caller
from proxy.servers.http.http_logins import HttpLogins
from proxy.servers.http.http_problem import HttpProblem

MOST_HOURS = 24


async def made_token(
    logins: HttpLogins, caller: Caller, database: str, new: OwnTokenRequest, budget: str
) -> CreatedToken:
    """Make a token of the caller's for one database.

    A token makes none: the new one would outlive it, and would not be charged to it.

    Args:
        logins: Where the token is presented later.
        caller: Who may query the database.
        database: Which it is for.
        new: What was asked for.
        budget: The caller's, as /v1/budget tells it.

    Raises:
        HttpProblem: 400, 403 or 409.
    """
    if caller.token is not None:
        raise HttpProblem(
            HTTPStatus.FORBIDDEN,
            "a token makes no tokens",
            hint="Log in with your password, or with a token of the OpenID Connect provider.",
            sqlstate=Code.PROTECTED.sqlstate,
        )
    hours, epsilon = Decimal(new.hours or MOST_HOURS), Decimal(new.epsilon)
    if not 0 < hours <= MOST_HOURS:
        raise HttpProblem(
            HTTPStatus.BAD_REQUEST,
            f"a token that you make yourself is valid for {MOST_HOURS} hours at most",
            hint=OwnTokenRequest.hints["hours"],
            sqlstate=Code.SETTING.sqlstate,
        )
    left = _left(budget, caller.analyst)
    if left is not None and epsilon > left:
        raise HttpProblem(
            HTTPStatus.FORBIDDEN,
            f"your budget does not cover a token of epsilon {epsilon:f}: epsilon {left.normalize():f} is left",
            hint="Ask for a token with a smaller epsilon.",
            sqlstate=Code.OVER_BUDGET.sqlstate,
        )
    try:
        made = await logins.new_token(
            caller, database, days=float(hours / 24), epsilon=epsilon, note=new.note or ""
        )
    except UserError as error:
        raise HttpProblem(HTTPStatus.CONFLICT, str(error)) from None
    return CreatedToken(number=made.number, token=made.text, expires_at=made.expires_at)


def _left(budget: str, analyst: str) -> Decimal | None:
    """Of the analyst's own line. None: it has no limit."""
    lines = json.loads(budget, parse_float=Decimal, parse_int=Decimal)
    left = next(one["epsilon_remaining"] for one in lines if one["analyst"] == analyst)
    return None if left is None else Decimal(left)
