"""The settings of an analyst's session that answers depend on, as both listeners read them."""

from __future__ import annotations

DP_SETTINGS = ("dp.epsilon", "dp.delta", "dp.notice", "dp.round")
# Those by which PostgreSQL reads constants otherwise than the reader of this process does.
MEANING_SETTINGS = (
    *("TimeZone", "standard_conforming_strings", "transform_null_equals", "array_nulls"),
    "extra_float_digits",
)
SESSION_SETTINGS = (*DP_SETTINGS, "statement_timeout", *MEANING_SETTINGS)
CLIENT_ENCODING = "client_encoding"  # the wire asks for it, too: in a pipeline it may have changed
