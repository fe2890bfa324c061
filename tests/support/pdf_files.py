"""Small PDF files, written by hand: pages of lines, each with its place and type size."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

Placed = tuple[float, float, float, str]
"""x, y from the bottom, type size, text."""


def pdf_file(pages: Sequence[Sequence[Placed]], info: Mapping[str, str] | None = None, link: str = "") -> bytes:
    """A PDF file with these lines on its pages."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * place} 0 R" for place in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    action = f"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI ({link}) >> >>" if link else ""
    for place, lines in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {5 + 2 * place} 0 R "
            f"/Annots [{action}] /Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(stream("".join(map(_shown, lines)).encode("cp1252")))
    stated = "".join(f"/{key} ({_escaped(value)}) " for key, value in (info or {}).items())
    objects.append(f"<< {stated}>>".encode("cp1252"))
    return whole(objects, len(objects))


def stream(content: bytes) -> bytes:
    packed = zlib.compress(content)
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed)


def whole(objects: Sequence[bytes], info: int = 0) -> bytes:
    """The bytes of a file with these objects; the first is the catalog."""
    made, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        offsets.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    begin = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    made += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    more = b" /Info %d 0 R" % info if info else b""
    return bytes(
        made + b"trailer\n<< /Size %d /Root 1 0 R%b >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, more, begin)
    )


def _shown(line: Placed) -> str:
    x, y, size, text = line
    return f"BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm ({_escaped(text)}) Tj ET\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def paper(
    title: str,
    author: str,
    references: Sequence[Sequence[str]] = (),
    text: Sequence[str] = ("Balloons rise because hot air is lighter than the air around them.",),
    info: Mapping[str, str] | None = None,
) -> bytes:
    """A paper of one column: title, author, text, and references whose lines after the first are indented."""
    lines: list[Placed] = [(100, 720, 17, title), (200, 690, 12, author), (250, 660, 10, "Abstract")]
    y = 640.0
    for words in text:
        lines.append((80, y, 10, words))
        y -= 12
    if references:
        y -= 24
        lines.append((80, y, 14, "References"))
        y -= 18
    for entry in references:
        for place, words in enumerate(entry):
            lines.append((80 if place == 0 else 92, y, 10, words))
            y -= 12
    return pdf_file([lines], info)
