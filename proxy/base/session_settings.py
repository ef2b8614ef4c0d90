"""The settings of an analyst's session that answers depend on, as both doors read them."""

from __future__ import annotations

DP_SETTINGS = ("dp.epsilon", "dp.delta", "dp.notice")
SESSION_SETTINGS = (*DP_SETTINGS, "statement_timeout")
