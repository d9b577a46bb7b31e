"""The proxies and certificates of the user's environment."""

from __future__ import annotations

import ipaddress
import os
import ssl
from collections.abc import Mapping

from spackscope.model.core.errors import SourceError
from spackscope.model.storage.urls import Url, web_url

_BUNDLES = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE")
_PROXIES = ("http", "https", "socks5", "socks5h")
_SYSTEM_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, RHEL
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # Alpine, macOS
)


def proxy_of(url: Url, environ: Mapping[str, str]) -> Url | None:
    """Return the proxy that requests to a URL go through, if any.

    As in curl, it is `http_proxy` or `https_proxy`, else `all_proxy`, unless `no_proxy` names the
    host, a domain above it, or a network that its address is in. Lower case goes first. A proxy
    without a scheme is an http one. Raises SourceError for an invalid one.
    """
    variables = (f"{url.scheme}_proxy", "all_proxy")
    name, proxy = next(
        ((name, value) for name in variables if (value := _variable(environ, name))), ("", "")
    )
    if not proxy or _is_exempt(url.host, url.port, _variable(environ, "no_proxy")):
        return None
    try:
        return web_url(proxy if "://" in proxy else f"http://{proxy}", _PROXIES)
    except SourceError as error:
        raise SourceError(f"{url.netloc} cannot be reached: {name} is invalid: {error}") from None


def tls_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return a TLS context that trusts the environment's, the system's or certifi's certificates.

    SSL_CERT_FILE and SSL_CERT_DIR name them, or as for curl and requests CURL_CA_BUNDLE and
    REQUESTS_CA_BUNDLE, which may be directories. Raises SourceError where they cannot be read.
    """
    bundles = [(name, environ[name]) for name in (*_BUNDLES, "SSL_CERT_DIR") if environ.get(name)]
    if not bundles:
        return ssl.create_default_context(cafile=_system_bundle())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for name, path in bundles:
        if name != bundles[0][0] and name != "SSL_CERT_DIR":
            continue
        if os.path.isdir(path):
            context.load_verify_locations(capath=path)
            continue
        try:
            context.load_verify_locations(cafile=path)
        except (OSError, ssl.SSLError) as error:
            why = error.strerror if not isinstance(error, ssl.SSLError) else "no certificate in it"
            raise SourceError(f"{name} names {path}, which cannot be read: {why}") from None
    return context


def _system_bundle() -> str:
    for path in (ssl.get_default_verify_paths().openssl_cafile, *_SYSTEM_BUNDLES):
        if os.path.isfile(path):
            return path
    import certifi

    return certifi.where()


def _variable(environ: Mapping[str, str], name: str) -> str:
    return (environ.get(name) or environ.get(name.upper()) or "").strip()


def _is_exempt(host: str, port: int | None, no_proxy: str) -> bool:
    host = host.lower().rstrip(".")
    for entry in no_proxy.lower().replace(",", " ").split():
        if entry == "*" or _in_network(host, entry):
            return True
        name = entry.removeprefix("*").removeprefix(".").rstrip(".")
        if ":" in name and not name.startswith("["):
            name, _, entry_port = name.rpartition(":")
            if entry_port != str(port):
                continue
        if name and (host == name or host.endswith(f".{name}")):
            return True
    return False


def _in_network(host: str, entry: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        return False
