"""The key of ledgers that tests make without a state folder."""

from __future__ import annotations

from proxy.ledger.text_cipher import TextCipher

LEDGER_CIPHER = TextCipher([bytes(range(32))])
