"""What leaves a server names no key, no token and no folder of the machine: neither answers nor logs."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from pydantic import SecretStr

from enquete.state.errors import SettingsError
from enquete.state.settings import SECRETS, Environment, said

SHORTEST = 6
"""Masking a shorter one would spoil ordinary words, so a server does not start with one."""


class Mask:
    """Replaces secrets by *** and the root by its name in what clients and logs are told."""

    def __init__(self, secrets: Iterable[str], root: Path):
        self._secrets = sorted({each for each in secrets if each}, key=len, reverse=True)
        self._roots = {str(root.absolute()), str(root.resolve())} - {"/"}

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        for root in sorted(self._roots, key=len, reverse=True):
            text = text.replace(root, "ROOT")
        return text

    @property
    def secrets_only(self) -> Mask:
        """For logs, which the operator reads: folders stay."""
        mask = Mask(self._secrets, Path("/"))
        mask._roots = set()
        return mask


class MaskingFormatter(logging.Formatter):
    """A log line, its traceback included, without secrets."""

    def __init__(self, mask: Mask):
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        return self._mask(super().format(record))


def mask_of(root: Path, token: SecretStr | None = None) -> Mask:
    """Of these, and of the token that clients send. Raises SettingsError where the environment is wrong, or a key too short."""
    Environment.read()  # says better what is wrong with a variable
    held = {name: secret for name in SECRETS if (secret := said(name))}
    for name, secret in held.items():
        if len(secret) < SHORTEST:
            raise SettingsError(
                f"{name} has {len(secret)} characters: a server masks keys in what it tells, and so short a one would spoil "
                f"ordinary words. Where the model's server wants no key, any word of {SHORTEST} characters or more will do"
            )
    return Mask([*held.values(), *([token.get_secret_value()] if token else [])], root)
