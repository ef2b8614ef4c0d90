"""Which certificate `serve` shows, and that nothing listens to a network in plain text unless told to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proxy.cli.addresses import Address
from proxy.cli.cli_error import CliError
from proxy.cli.command_options import TlsUse
from proxy.servers.http.guard import is_loopback


def chosen_certificate(
    certificate: Path | None, key: Path | None, use: TlsUse | None
) -> tuple[Path, Path] | None:
    """Refuses  Stopped where the options contradict each other"""
    if certificate is None and key is None:
        if use in (TlsUse.REQUIRED, TlsUse.OPTIONAL):
            raise CliError(f"--tls {use.value} needs --tls-cert and --tls-key")
        return None
    if certificate is None or key is None:
        raise CliError("--tls-cert and --tls-key go together")
    if use is TlsUse.OFF:
        raise CliError("--tls off and --tls-cert contradict each other")
    return certificate, key


def check_metrics_are_private(
    address: Address | None, certificate: tuple[Path, Path] | None
) -> None:
    """There is no login, so that --tls off is not enough.

    Refuses  Stopped
    """
    if address is None or certificate is not None or is_loopback(address.host):
        return
    raise CliError(
        f"--metrics {address} can be reached from other machines, and there is no certificate: give --tls-cert"
        " and --tls-key, or an address of loopback, or scrape the administrators' listener (--admin)"
    )


def check_is_private(
    addresses: Sequence[Address], certificate: tuple[Path, Path] | None, use: TlsUse | None
) -> None:
    """In plain text answers could be read on the way, and over HTTP passwords, too.

    Refuses  Stopped
    """
    if certificate is not None or use is TlsUse.OFF:
        return
    for address in addresses:
        if not is_loopback(address.host):
            raise CliError(
                f"{address} can be reached from other machines, and there is no certificate:"
                " give --tls-cert and --tls-key, or --tls off if the network is trusted"
            )
