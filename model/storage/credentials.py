"""The connection of a mirror in Spack's mirrors.yaml: endpoint, profile, keys."""

from __future__ import annotations

from collections.abc import Mapping

from spackscope.model.core.frozen import Frozen, field

_S3_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "S3_ENDPOINT_URL")


class Credentials(Frozen):
    """Who requests the files of a mirror, and where; what is not known is empty."""

    user: str = ""
    secret: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    profile: str = ""
    endpoint: str = ""


def read_credentials(options: Mapping[str, object], environ: Mapping[str, str]) -> Credentials:
    """Read the options of a mirror's connection, as lib/spack/spack/mirrors/mirror.py does.

    `access_pair` is a list of id and secret, or a mapping with `id` or `id_variable` and
    `secret_variable`; `access_token` may be an `access_token_variable`. A variable is one of the
    environment.
    """
    pair = options.get("access_pair")
    user = secret = ""
    if isinstance(pair, (list, tuple)) and len(pair) == 2:
        user, secret = (_text(part) for part in pair)
    elif isinstance(pair, Mapping):
        user, secret = (_option(pair, name, environ) for name in ("id", "secret"))
    return Credentials(
        user,
        secret,
        _option(options, "access_token", environ),
        _text(options.get("profile")),
        _text(options.get("endpoint_url")),
    )


def s3_credentials(mirror: Credentials, environ: Mapping[str, str]) -> Credentials:
    """Complete the credentials of a mirror by the environment, as lib/spack/spack/util/s3.py does.

    The token and the profile of the environment belong to its own key only.
    """
    own = {} if mirror.user else environ
    endpoints = (environ[name] for name in _S3_ENDPOINTS if environ.get(name))
    return Credentials(
        mirror.user or environ.get("AWS_ACCESS_KEY_ID", ""),
        mirror.secret or environ.get("AWS_SECRET_ACCESS_KEY", ""),
        mirror.token or own.get("AWS_SESSION_TOKEN", ""),
        mirror.profile or own.get("AWS_PROFILE", ""),
        mirror.endpoint or next(endpoints, ""),
    )


def _option(options: Mapping[str, object], name: str, environ: Mapping[str, str]) -> str:
    variable = _text(options.get(f"{name}_variable"))
    return environ.get(variable, "") if variable else _text(options.get(name))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
