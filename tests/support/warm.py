"""Imported by the server that clients are forked from: what a run reads and compiles once is read and compiled before
the fork, so that a start costs .3 s of CPU and not 1.5. A small study is conducted in a loop of its own, so that no
thread is left."""

from __future__ import annotations

import asyncio
import importlib
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import vl_convert

import enquete
from tests.support.studies import personas

for module in (
    "openai",
    "aiohttp",
    "sklearn.decomposition",
    "enquete.models.openai_chat",
    "enquete.interfaces.cli.app",
):
    importlib.import_module(module)

SVG = '<svg width="1" height="1" viewBox="0 0 1 1"></svg>'

# Vega's thread would be left behind by the fork, and whoever draws afterwards wait for it.
with TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
    patch.setattr(vl_convert, "vegalite_to_svg", lambda *_, **__: SVG)
    before = Path.cwd()
    os.chdir(made)  # away from the repository's .env
    asyncio.run(
        enquete.aconduct_interviews(
            str(personas(Path(made), 2)), out=f"{made}/out", respondent="synthetic", methods=["longitudinal", "delphi"]
        )
    )
    os.chdir(before)
