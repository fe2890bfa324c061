"""Tar export: the page repository of [CHAP] section 2.2, one file per page, named by the MD5 of its URL.

It is one archive because a crawl may have millions of pages; `tar -xf crawl.tar` unpacks the files. `urls.tsv` at its
end maps files to URLs. Names are 32 hexadecimal digits, whatever the URL is.
"""

from __future__ import annotations

import io
import tarfile
from typing import BinaryIO

from scenthound.errors import FolderBroken
from scenthound.exports import exporter, refuse_columns
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.page_rows import EVERYTHING, Selection
from scenthound.url import file_name

LIST = "urls.tsv"


@exporter("tar")
def tar(folder: CrawlFolder, out: BinaryIO, selection: Selection = EVERYTHING) -> int:
    """One file per page, named by the MD5 of its URL, in a tar archive with a list of the URLs."""
    refuse_columns(selection, "tar")
    rows, broken = [], 0
    with tarfile.open(fileobj=out, mode="w|") as archive:
        for page in filter(selection.takes, folder.pages()):
            try:
                content = page.content
            except FolderBroken:
                broken += 1
                continue
            _add(archive, file_name(page.url), content, page.step.time)
            rows.append(f"{file_name(page.url)}\t{page.url}\n")
        _add(archive, LIST, "".join(rows).encode("utf-8", "replace"), 0.0)
    if broken:
        folder.recovered.append(f"{broken} pages can't be read from `pages/` and are left out")
    return len(rows)


def _add(archive: tarfile.TarFile, name: str, content: bytes, time: float) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime = len(content), int(time)
    archive.addfile(entry, io.BytesIO(content))
