"""Convert PDF responses to HTML responses, in a child process with limits (docs/decisions/0002)."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from dataclasses import replace

from scenthound.errors import BadUsage
from scenthound.model import Response
from scenthound.page.read import PageLimits
from scenthound.ports import Failure
from scenthound.processes import module_command
from scenthound.web.content_type import extract
from scenthound.web.decode import Undecodable, decompress

NOT_READ = "pdf-not-read"
"""The reason of a miss if a PDF file could not be read."""
SECONDS = 30.0  # for one file, including the start of the process
_PDF = "application/pdf"
_REPLACED = frozenset(("content-type", "content-encoding", "content-length"))


def is_converted(response: Response, limits: PageLimits) -> bool:
    """Whether the response is a PDF file, according to its content type, and PDF files are to be read."""
    if not limits.pdf or not 200 <= response.status < 300:
        return False
    mime = extract(value for key, value in response.headers if key.lower() == "content-type")
    return mime is not None and mime.essence in (_PDF, "application/x-pdf")


def require_pypdf() -> None:
    """Raise `BadUsage` if the extra `pdf` is not installed."""
    if importlib.util.find_spec("pypdf") is None:
        raise BadUsage("PDF files need the package pypdf", "pip install 'scenthound[pdf]', or leave out `pdf`")


def as_html(response: Response, limits: PageLimits) -> Response | Failure:
    """Convert a PDF response to HTML, which may take seconds; any other response is returned as it is.

    Returns a `Failure` if the file can't be read within the limits.
    """
    if not is_converted(response, limits):
        return response
    if response.truncated:
        return Failure(NOT_READ, f"only its first {len(response.body):,} bytes were received", len(response.body))
    coding = ",".join(value for key, value in response.headers if key.lower() == "content-encoding")
    try:
        body = decompress(response.body, coding, limit=limits.unpacked, ratio=limits.ratio).data
        require_pypdf()
        html = _html(body)
    except (Undecodable, BadUsage, _NotRead) as error:
        return Failure(NOT_READ, str(error), len(response.body))
    headers = [(key, value) for key, value in response.headers if key.lower() not in _REPLACED]
    return replace(response, headers=(*headers, ("Content-Type", "text/html; charset=utf-8")), body=html)


class _NotRead(Exception):
    pass


def _html(body: bytes) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and our own arguments
            module_command("scenthound.page.read_pdf"),
            input=body,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        raise _NotRead("reading it took too long") from None
    except OSError as error:
        raise _NotRead(f"no process could be started: {error.strerror}") from None
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip()[-200:]
        raise _NotRead(message if done.returncode == 1 and message else "reading it took too much time or memory")
    return done.stdout
