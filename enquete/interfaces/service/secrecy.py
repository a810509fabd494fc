"""What leaves a server names no key, no token and no folder of the machine: neither answers nor logs."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from pydantic import SecretStr

from enquete.state.settings import Environment

SHORTEST = 6
"""A shorter secret is none, and masking it would spoil ordinary words."""


class Mask:
    """Replaces secrets by *** and the root by its name in what clients and logs are told."""

    def __init__(self, secrets: Iterable[str], root: Path):
        self._secrets = sorted((each for each in secrets if len(each) >= SHORTEST), key=len, reverse=True)
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
    """Of every key that this process holds. Raises SettingsError where the environment is wrong."""
    environment = Environment.read()
    held = (environment.api_key, environment.zep_api_key, token)
    return Mask([key.get_secret_value() for key in held if key is not None], root)
