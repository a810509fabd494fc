"""The model server's absences and busy times, as the tests of the model client rely on them."""

from __future__ import annotations

import time
import urllib.error

import pytest

from tests.support.model_server import ModelServer
from tests.support.test_model_server import body, post


def test_it_refuses_connections_and_comes_back_on_the_same_port() -> None:
    with ModelServer() as server:
        post(server, body())
        address = server.base_url
        server.vanish()
        time.sleep(0.1)
        for _ in range(3):
            with pytest.raises(urllib.error.URLError, match="refused"):
                post(server, body())
        server.come_back()
        time.sleep(0.1)
        post(server, body())
        assert server.base_url == address
        assert len(server.requests) == 2


def test_it_vanishes_by_itself_after_so_many_requests_for_so_long() -> None:
    with ModelServer() as server:
        server.vanish(0.3, after=2)
        post(server, body("1"))
        with pytest.raises(OSError, match=r"closed|reset"):
            post(server, body("2"))
        with pytest.raises(urllib.error.URLError, match="refused"):
            post(server, body("3"))
        time.sleep(0.5)
        post(server, body("3"))


def test_it_is_busy_for_half_of_the_time() -> None:
    with ModelServer() as server:
        server.busy_s = 0.1
        seen = set()
        for number in range(60):
            try:
                post(server, body(str(number)))
                seen.add(200)
            except urllib.error.HTTPError as error:
                seen.add(error.code)
                error.close()
            time.sleep(0.01)
    assert seen == {200, 429}
