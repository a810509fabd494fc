"""The process: the application, a log without secrets, uvicorn."""

from __future__ import annotations

import logging

import uvicorn

from enquete.interfaces.http.app import make_app, make_mask
from enquete.interfaces.http.secrecy import MaskingFormatter
from enquete.interfaces.http.settings import ServerSettings
from enquete.interfaces.listening import Server

LOGGERS = ("enquete.http", "uvicorn")
GRACE_S = 10
KEEP_ALIVE_S = 30


def make_server(settings: ServerSettings) -> Server:
    """Raises SimulationNotFound where the root is no folder."""
    config = uvicorn.Config(
        make_app(settings),
        log_config=None,
        access_log=False,  # a poll a second says nothing, and paths are clients' words
        ws="none",
        lifespan="on",
        proxy_headers=False,  # a client could name any address in them
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
    )
    return Server(config)


def log_to_stderr(settings: ServerSettings) -> None:
    """What the server does and what goes wrong, each line without secrets."""
    handler = logging.StreamHandler()
    handler.setFormatter(MaskingFormatter(make_mask(settings).secrets_only))
    for name, level in zip(LOGGERS, (logging.INFO, logging.WARNING), strict=True):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
