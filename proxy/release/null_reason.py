"""Why an answer is NULL. Plain data."""

from __future__ import annotations

from enum import Enum


class NullReason(Enum):
    """The values are the words of the NOTICE."""

    EMPTY_GROUP = "the noisy number of rows is not clearly above 0"
    UNCLEAR_ROWS = "the noisy number of rows that it is made of is not clearly above 0"
    TOO_FEW = "the noisy number of rows is too small"
    TOO_WIDE = "its error is at least half of the range that it can have"
    TOO_INEXACT = "the error is more than half of the column's bounds"
    TOO_FEW_UNITS = "too few people: the policy shows no group so small"
    ALL_NOISE = "all that its values differ is noise, as of few people"
