"""Which certificate `serve` shows, also a renewed one; and that nothing listens to a network in
plain text unless told to."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import structlog

from proxy.cli.cli_error import CliError
from proxy.cli.command_options import TlsUse
from proxy.cli.listen_addresses import Address
from proxy.servers.certificate import renew_certificate
from proxy.servers.client_address import is_loopback


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


# The certificate of the listeners is taken up anew when its files change, and on SIGHUP.

_log = structlog.get_logger("dpproxy.reloading")


class CertificateWatch:
    """
    Given    certificate and key in PEM; contexts: gives those of the listeners that are open
    Gives    `look` renews them: who connects from then on is shown the new one, and sessions go on
    """

    def __init__(
        self, files: tuple[Path, Path], contexts: Callable[[], Iterable[ssl.SSLContext]]
    ) -> None:
        self._files = files
        self._contexts = contexts
        self._taken = self._seen = self._signature()

    def look(self, *, at_once: bool = False) -> None:
        """Files are read once both have been left alone from one look to the next."""
        seen, self._seen = self._seen, self._signature()
        if self._seen == self._taken or (seen != self._seen and not at_once):
            return
        self._taken = self._seen
        certificate, key = self._files
        try:
            renew_certificate(self._contexts(), certificate, key)
        except (OSError, ssl.SSLError) as error:
            reason = error.strerror if type(error) is OSError else type(error).__name__
            _log.error("certificate_not_taken", file=str(certificate), reason=reason)
        else:
            _log.warning("certificate_taken", file=str(certificate))

    def _signature(self) -> tuple[object, ...]:
        """Changes with the files, also where links to them are turned to others."""
        found: list[object] = []
        for file in self._files:
            try:
                of = file.stat()
            except OSError:
                found.append("gone")
            else:
                found.append((of.st_ino, of.st_mtime_ns, of.st_size, of.st_ctime_ns))
        return tuple(found)
