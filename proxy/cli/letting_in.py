"""Who is let in beside analysts with a password: options of `serve`, checked before anything is started."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from proxy.cli.cli_error import CliError
from proxy.cli.listen_addresses import Address

if TYPE_CHECKING:
    from proxy.servers.http.admin_credentials import CredentialsFile
    from proxy.servers.http.oidc import OidcSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminListener:
    address: Address
    credentials: CredentialsFile


@dataclass(frozen=True, slots=True, kw_only=True)
class LettingIn:
    """rules: the text of the file, which has been read once without an objection; has_agents: whether /mcp is
    served, whose library is there."""

    rules: str | None = None
    oidc: OidcSettings | None = None
    admin: AdminListener | None = None
    has_agents: bool = False


def check_agents(*, is_wanted: bool) -> bool:
    """Refuses  Stopped where the library is not installed"""
    if is_wanted and find_spec("mcp") is None:
        raise CliError("--mcp needs the library of the protocol: pip install 'dpproxy[mcp]'")
    return is_wanted


def certificate_rules(
    authority: Path | None, rules: Path | None, certificate: tuple[Path, Path] | None
) -> str | None:
    """Refuses  Stopped where the options contradict each other, or a rule is not understood"""
    if authority is None and rules is None:
        return None
    if authority is None or rules is None:
        raise CliError("--client-ca and --client-rules go together")
    if certificate is None:
        raise CliError("--client-ca needs --tls-cert and --tls-key")
    from proxy.servers.wire.certificate_rules import RulesError, read_rules

    try:
        text = rules.read_text(encoding="utf-8")
        read_rules(text, lambda user, group: False)
    except OSError as error:
        raise CliError(f"{rules}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CliError(f"{rules}: not in UTF-8") from None
    except RulesError as error:
        raise CliError(f"{rules}: {error}") from None
    return text


def oidc_settings(
    issuer: str | None,
    audience: str | None,
    claim: str,
    keys_url: str | None,
    authority: Path | None,
    longest_seconds: int,
) -> OidcSettings | None:
    """Refuses  Stopped"""
    if issuer is None:
        if audience is not None or keys_url is not None or authority is not None:
            raise CliError("--oidc-audience, --oidc-keys and --oidc-ca need --oidc-issuer")
        return None
    if not audience:
        raise CliError("--oidc-issuer needs --oidc-audience: for whom its tokens must be")
    if not claim:
        raise CliError("--oidc-claim is empty")
    try:
        from proxy.servers.http.oidc import OidcSettings
    except ImportError as error:
        raise CliError(f"--oidc-issuer needs {error.name}: pip install 'PyJWT[crypto]'") from None
    from proxy.servers.http.oidc import FetchError, check_url

    try:
        for url in (issuer, *(() if keys_url is None else (keys_url,))):
            check_url(url)
    except FetchError as error:
        raise CliError(str(error)) from None
    if authority is not None and not authority.is_file():
        raise CliError(f"{authority}: no such file")
    return OidcSettings(
        issuer=issuer,
        audience=audience,
        claim=claim,
        keys_url=keys_url,
        authority=authority,
        longest_seconds=longest_seconds,
    )


def admin_listener(address: Address | None, secrets: Path | None) -> AdminListener | None:
    """Refuses  Stopped"""
    if address is None and secrets is None:
        return None
    if address is None or secrets is None:
        raise CliError("--admin and --admin-secrets go together")
    from proxy.servers.http.admin_credentials import CredentialsError, CredentialsFile

    try:
        return AdminListener(address=address, credentials=CredentialsFile(secrets))
    except CredentialsError as error:
        raise CliError(str(error)) from None
