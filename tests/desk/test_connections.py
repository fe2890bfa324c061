"""Slow clients, too many clients, broken requests: the desk goes on serving, and says each thing once."""

from __future__ import annotations

import contextlib
import logging
import re
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from scenthound.desk.api_base import Desk
from scenthound.desk.connections import ConnectionLimits, OncePerCause, server_of
from scenthound.desk.crawl_folders import Collections
from scenthound.desk.security import Access
from scenthound.desk.web_app import listening_socket, make_app
from support.desk import TOKEN
from support.running_crawl import environment, until
from support.small_crawl import small_crawl

SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@contextmanager
def desk_with(home: Path, limits: ConnectionLimits) -> Iterator[int]:
    """A desk in a thread; gives its port."""
    with listening_socket("127.0.0.1", 0) as listener:
        port = int(listener.getsockname()[1])
        server = server_of(make_app(Desk(Access("127.0.0.1", port, TOKEN), Collections(home, []))), limits)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        until(lambda: server.started, "it does not start")
        try:
            yield port
        finally:
            server.should_exit = True
            thread.join()


def client(port: int, sent: bytes) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), timeout=30)
    made.sendall(sent)
    return made


def is_closed(made: socket.socket) -> bool:
    """Wait until the other side has closed a connection."""
    with contextlib.suppress(ConnectionResetError):
        while made.recv(4096):
            pass
    return True


def get(port: int, path: str = "/api/collections") -> HTTPResponse:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


EVENTS = b"GET /api/collections/crawl/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"
HEAD = b"GET /api/collections HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HT",
        HEAD,
        HEAD + b"Content-Length: 10\r\n\r\n12",
        b"POST /api/crawls HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ],
)
def test_a_client_that_does_not_finish_its_request_is_cut_off(tmp_path: Path, sent: bytes) -> None:
    with desk_with(tmp_path, ConnectionLimits(head_time=0.3, body_time=0.3)) as port:
        with client(port, sent) as slow:
            assert is_closed(slow)
        assert get(port).status == 200


def test_a_client_that_sends_a_byte_now_and_then_is_cut_off_too(tmp_path: Path) -> None:
    with desk_with(tmp_path, ConnectionLimits(head_time=0.5)) as port, client(port, b"GET / HTTP/1.1\r\n") as slow:
        assert until(lambda: not can_send(slow), "it may go on")


def can_send(made: socket.socket) -> bool:
    try:
        made.sendall(b"a")
    except OSError:
        return False
    return True


def test_a_client_that_waits_for_its_answer_is_not_cut_off(tmp_path: Path) -> None:
    small_crawl(tmp_path / "home" / "crawl")
    limits = ConnectionLimits(head_time=0.3, body_time=0.3)
    with desk_with(tmp_path / "home", limits) as port, client(port, EVENTS % port) as watching:
        assert b"200 OK" in watching.recv(4096)
        watching.settimeout(1.0)
        with contextlib.suppress(TimeoutError):  # the limits are over three times, and the connection is open
            while watching.recv(4096):
                pass
            pytest.fail("it was closed")


def test_slow_clients_do_not_keep_others_out(tmp_path: Path) -> None:
    with desk_with(tmp_path, ConnectionLimits(connections=5, head_time=600)) as port, ExitStack() as stack:
        slow = [stack.enter_context(client(port, b"GET / HT")) for _ in range(40)]
        for _ in range(5):
            assert get(port).status == 200
        assert is_closed(slow[0])


def test_if_all_connections_are_busy_a_new_one_is_told_so(tmp_path: Path) -> None:
    small_crawl(tmp_path / "home" / "crawl")
    with desk_with(tmp_path / "home", ConnectionLimits(connections=2)) as port, ExitStack() as stack:
        for _ in range(2):
            watching = stack.enter_context(client(port, EVENTS % port))
            assert b"200 OK" in watching.recv(4096)
        answer = get(port)
        assert answer.status == 503
        assert_secured(answer)


def assert_secured(answer: Any) -> None:
    for name, value in SECURITY_HEADERS.items():
        assert value in str(answer.getheader(name)), name


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\xff\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /\xed\xa0\x80 HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
)
def test_a_request_that_is_none_gets_an_answer_with_all_headers(tmp_path: Path, sent: bytes) -> None:
    with desk_with(tmp_path, ConnectionLimits()) as port, client(port, sent) as broken:
        answer = HTTPResponse(broken)
        answer.begin()
        assert 400 <= answer.status < 500
        assert_secured(answer)


def test_a_log_has_one_line_per_cause() -> None:
    now = 0.0
    once = OncePerCause(lambda: now)
    shown: list[str] = []

    def log(message: str, *arguments: object, error: Exception | None = None) -> None:
        raised: Any = None
        try:
            if error is not None:
                raise error
        except OSError:
            raised = sys.exc_info()
        record = logging.LogRecord("desk", logging.ERROR, "", 0, message, arguments, raised)
        if once.filter(record):
            shown.append(logging.Formatter().format(record))

    for number in range(1000):
        log("accept() failed for %s\nsocket: 5", number, error=OSError(24, "Too many open files"))
        log("another")
    assert shown == [
        f"accept() failed for 0: OSError: [Errno 24] Too many open files ({here(shown[0])})",
        "another",
    ]
    now = 61.0
    log("another")
    assert shown[2] == "another [999 more times in the meantime]"


def here(line: str) -> str:
    found = re.search(r"\((test_connections\.py:\d+)\)$", line)
    assert found
    return found[1]


def few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))


def test_150_slow_clients_and_100_descriptors(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    command = [sys.executable, "-m", "scenthound", "desk", "--no-browser", "--port", "0", "--home", str(tmp_path / "h")]
    with errors.open("wb") as file, ExitStack() as stack:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=file, env=environment(), preexec_fn=few_descriptors
        )
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().decode().partition("/#")[0].rpartition(":")[2])
            for _ in range(150):
                stack.enter_context(client(port, b"GET / HTTP/1.1\r\n"))
            for _ in range(3):
                assert get(port, "/").status == 200
        finally:
            process.terminate()
            process.wait(timeout=30)
            process.stdout.close()
    lines = errors.read_text().splitlines()
    assert len(lines) <= 3, lines[:20]
