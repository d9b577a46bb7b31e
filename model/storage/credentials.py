"""What a mirror in Spack's mirrors.yaml says of the way to it: endpoint, profile, keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Access:
    """Hold who asks for the files of a mirror, and where: what is not known is empty."""

    user: str = ""
    secret: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    profile: str = ""
    endpoint: str = ""


def access_of(options: Mapping[str, object], environ: Mapping[str, str]) -> Access:
    """Read the options of a mirror's connection, as lib/spack/spack/mirrors/mirror.py does.

    `access_pair` is a list of id and secret, or a mapping with `id` or `id_variable` and
    `secret_variable`; `access_token` may be an `access_token_variable`. A variable names one of
    the environment.
    """
    pair = options.get("access_pair")
    user = secret = ""
    if isinstance(pair, (list, tuple)) and len(pair) == 2:
        user, secret = (_text(part) for part in pair)
    elif isinstance(pair, Mapping):
        user, secret = (_given(pair, name, environ) for name in ("id", "secret"))
    return Access(
        user,
        secret,
        _given(options, "access_token", environ),
        _text(options.get("profile")),
        _text(options.get("endpoint_url")),
    )


def _given(options: Mapping[str, object], name: str, environ: Mapping[str, str]) -> str:
    variable = _text(options.get(f"{name}_variable"))
    return environ.get(variable, "") if variable else _text(options.get(name))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
