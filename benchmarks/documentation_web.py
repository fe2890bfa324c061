"""Make a bed of real sites from the documentation packages of Debian: 24 fields, about 250 sites of software projects.

    $ python benchmarks/documentation_web.py FOLDER [--links list|friends] [--keep DOWNLOADS]

Each package is a site: its pages as they are, at most 60, on the host of the project's home page (or on
NAME.readthedocs.io). Links to other packages, to the home page, the repository or the package index entry of a project
of the bed lead to its pages here. A topic is a field, with seeds drawn at random; targets are the other home pages of
the field. The sites themselves have few links to each other, so some are added: with `list` there is one more site,
whose only page lists all others in alphabetical order with Debian's descriptions, and to which every third home page
links; with `friends` each home page names three others, half of them of its field. Needs `apt-get download` and about
600 MB; nothing is installed.
"""

from __future__ import annotations

import argparse
import io
import posixpath
import random
import re
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

from scenthound import url as urls
from scenthound.lab.beds.bed import write_bed
from scenthound.model import Response, Url
from scenthound.topic_list import BedTopic

FIELDS: Mapping[str, str] = {
    "astronomy telescopes": "astroplan astropy astroquery gwcs imexam pydl pyregion 3ndcube asdf",
    "django applications": (
        "django-allauth django-filters django-guardian django-haystack django-mptt django-polymorphic django-reversion"
        " django-tables2 django-taggit django-treebeard django-debug-toolbar django-crispy-forms djangorestframework"
    ),
    "flask extensions": (
        "flask flask-babel flask-bcrypt flask-limiter flask-login flask-restful flask-security flask-session"
        " flask-httpauth flask-dance flask-paginate flask-autoindex"
    ),
    "databases sql": (
        "psycopg2 psycopg pg8000 peewee sqlalchemy sqlobject pymysql aiomysql pymongo mongoengine apsw bsddb3 oracledb"
        " tds pygresql aiosqlite 3cassandra 3clickhouse-driver sqlalchemy-utils"
    ),
    "cryptography keys": (
        "cryptography nacl openssl pycryptodome m2crypto argon2 josepy jose 3pgpy itsdangerous acme secretstorage"
    ),
    "testing mocks": (
        "pytest nose nose2 behave hypothesis coverage mock mockito testtools testfixtures sybil factory-boy"
        " requests-mock vcr betamax ddt fudge"
    ),
    "message queues": "celery kombu amqp aio-pika pika aioamqp amqplib pamqp stomp kafka qpid-proton",
    "molecular simulation": "mdanalysis mdtraj ase pymatgen propka freesasa pymzml periodictable gsd",
    "bioinformatics sequences": "biopython skbio cogent pybedtools biom-format bioblend pbcore 3sbml5 3emperor pdbx",
    "neuroimaging brain": "nibabel nipy nipype dipy nitime pydicom brian 3bmtk",
    "data analysis arrays": (
        "pandas xarray dask statsmodels sklearn bottleneck h5py tables patsy h5netcdf blosc distributed lmfit scipy"
    ),
    "number theory algebra": "sympy mpmath gmpy2 cypari2 fpylll ppl cvxopt 3primecountpy uncertainties",
    "finite elements meshes": "ffcx fiat ufl sfepy petsc4py slepc4py pygmsh meshplex escript mpi4py",
    "audio music": "mutagen mir-eval musicbrainzngs mpd midiutil libdiscid soundfile pyaudio podcastparser",
    "image processing drawing": "pil imageio skimage willow 3psd-tools cairocffi 3-cairo svgwrite vigra",
    "notebooks kernels": (
        "ipython ipywidgets jupyter-client jupyter-console jupyter-core notebook nbclient nbconvert nbformat nbsphinx"
        " qtconsole ipyparallel traitlets metakernel terminado"
    ),
    "web servers requests": (
        "aiohttp tornado uvicorn waitress cherrypy3 bottle circuits treq webob werkzeug quart pecan 3hug paste"
    ),
    "terminal command line": (
        "click typer cmd2 cleo cliff cloup urwid humanfriendly 3enlighten pexpect terminaltables pyte mando"
    ),
    "hardware devices": (
        "serial-asyncio can 3ftdi 3smbus2 periphery pymodbus pyepics pymeasure evdev bleak mbed-ls tango"
    ),
    "earth satellite maps": "pyresample pycoast pyorbital 3pyspectral grib osmnx libpysal ulmo geoalchemy2 mintpy epr",
    "cloud clients": (
        "novaclient glanceclient keystoneclient swiftclient ironicclient magnumclient manilaclient openstackclient"
        " designateclient zunclient octaviaclient k8sclient"
    ),
    "data formats schemas": (
        "lxml bs4 xmlschema xsdata cssselect2 tinycss2 jsonschema rapidjson simplejson cbor2 fastjsonschema"
        " 3marshmallow jsonpickle"
    ),
    "chat social networks": (
        "slixmpp nbxmpp 3aioxmpp 3telethon 3python-telegram-bot discord 3matrix-nio tweepy twitter diaspy pyrcb2"
    ),
    "x-ray scattering": "fabio pyfai silx xraydb xraylarch xrayutilities bumps sasmodels 3hdf5plugin navarp",
}
DRAWS = (2, 3, 5)
"""Seeds of the topics of each field."""
MOST_PAGES = 60
FRIENDS = 3
LARGEST = 20_000_000  # bytes of a package
SHARED_HOSTS = ("github.com", "pypi", "gitlab.com", "bitbucket.org", "readthedocs.org", "sourceforge", "launchpad.net")
INDEXES = {"github.com": 1, "gitlab.com": 1, "pypi.org": 1, "pypi.python.org": 1, "pythonhosted.org": 0}
"""Hosts of many projects, and which part of the path names the project."""
LEFT_OUT = re.compile(r"(^|/)(_sources|_modules|_static|genindex|search\.html|py-modindex|modindex|opensearch)")
HREF = re.compile(r'(<a\b[^>]*?\bhref=)(["\'])(.*?)\2', re.IGNORECASE | re.DOTALL)
INDEX_PAGE = re.compile(r"(?<![^/])index\.html?$")
VERSION = re.compile(r"^(en|latest|stable|docs?|html|dev|master|main|v?\d[\w.]*|projects|documentation)$")
LIST_SITE = "https://documentation-list.org/"


@dataclass
class Site:
    """A documentation package: its pages by path on the host, and where they were installed."""

    name: str
    field: str
    homepage: str
    about: str
    root: str = ""
    host: str = ""
    pages: dict[str, str] = field(default_factory=dict)

    def url(self, path: str) -> str:
        return f"https://{self.host}/{INDEX_PAGE.sub('', path)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("bed", type=Path, metavar="FOLDER")
    parser.add_argument("--keep", type=Path, default=Path("documentation-packages"), help="folder of the downloads")
    parser.add_argument("--links", choices=["none", "list", "friends"], default="none", help="links to add")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    sites = [site for site in read_sites(options.keep.resolve()) if site.pages]
    name_hosts(sites)
    options.bed.mkdir(parents=True)
    written = write_bed(
        options.bed, options.bed.name, responses(sites, options.links), topics(sites), origin="Debian", licence="-"
    )
    print(f"{len(sites)} sites, {sum(len(site.pages) for site in sites):,} pages; {written}")


def read_sites(downloads: Path) -> Iterator[Site]:
    names = [(name, fields) for fields, listed in FIELDS.items() for name in listed.split()]
    packages = [_package(name) for name, _ in names]
    shown = subprocess.run(["apt-cache", "show", "--no-all-versions", *packages], capture_output=True, text=True).stdout
    entries = [dict(re.findall(r"^([A-Z][\w-]*): (.*)$", entry, re.MULTILINE)) for entry in shown.split("\n\n")]
    known = {entry["Package"]: entry for entry in entries if int(entry.get("Size", LARGEST + 1)) <= LARGEST}
    if missing := [package for package in known if not list(downloads.glob(f"{package}_*.deb"))]:
        subprocess.run(["apt-get", "download", "-q", *missing], cwd=downloads, check=True)
    for (name, fields), package in zip(names, packages, strict=True):
        files = list(downloads.glob(f"{package}_*.deb"))
        site = read_site(files[0], known[package], name.lstrip("3-"), fields) if files and package in known else None
        if site is None:
            print(f"left out: {package}")
        else:
            yield site


def _package(name: str) -> str:
    return f"python3-{name[1:].lstrip('-')}-doc" if name[0] == "3" else f"python-{name}-doc"


def read_site(package: Path, about: Mapping[str, str], name: str, fields: str) -> Site | None:
    description = about.get("Description", about.get("Description-en", ""))
    site = Site(name, fields, about.get("Homepage", ""), description)
    unpacked = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(package)], capture_output=True, check=True).stdout
    files = dict[str, bytes]()
    with tarfile.open(fileobj=io.BytesIO(unpacked)) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith((".html", ".htm")):
                file = archive.extractfile(member)
                files["/" + member.name.lstrip("./")] = b"" if file is None else file.read(2_000_000)
    indices = [path for path in files if path.endswith("/index.html")]
    if not indices:
        return None
    start = min(indices, key=lambda path: (path.count("/"), len(path)))
    site.root = start.removesuffix("index.html")
    site.pages = chosen_pages(files, start, site.root)
    return site


def chosen_pages(files: Mapping[str, bytes], start: str, root: str) -> dict[str, str]:
    """The first pages in breadth-first order from the home page, by their path below the root."""
    waiting, seen, pages = [start], {start}, dict[str, str]()
    while waiting and len(pages) < MOST_PAGES:
        path = waiting.pop(0)
        html = files[path].decode("utf-8", "replace")
        pages[path.removeprefix(root)] = html
        for match in HREF.finditer(html):
            target = posixpath.normpath(urljoin(path, urldefrag(match[3]).url or path))
            if target in files and target not in seen and target.startswith(root) and not LEFT_OUT.search(target):
                seen.add(target)
                waiting.append(target)
    return pages


def name_hosts(sites: Sequence[Site]) -> None:
    """Give each site the host of its home page, if it is the only one there."""
    hosts = [(urlsplit(site.homepage).hostname or "").removeprefix("www.") for site in sites]
    for site, host in zip(sites, hosts, strict=True):
        is_shared = not host or hosts.count(host) > 1 or any(shared in host for shared in SHARED_HOSTS)
        site.host = f"{site.name.replace('.', '-').lower()}.readthedocs.io" if is_shared else host


class LinkRewriter:
    """Points links between packages, and links to home pages and repositories, to the pages of the bed."""

    def __init__(self, sites: Sequence[Site]) -> None:
        self.sites = sites
        self.by_root = sorted(((site.root, site) for site in sites), key=lambda pair: -len(pair[0]))
        self.by_name = {site.name.lower().replace("_", "-"): site for site in sites}
        self.by_host = {site.host: site for site in sites}
        for site in sites:
            parts = urlsplit(site.homepage)
            host = (parts.hostname or "").removeprefix("www.")
            if host and not any(shared in host for shared in SHARED_HOSTS):
                self.by_host.setdefault(host, site)

    def html(self, site: Site, path: str) -> str:
        here = site.root + path

        def replaced(match: re.Match[str]) -> str:
            return f'{match[1]}"{escape(self.target(site, here, match[3].strip()), quote=True)}"'

        return HREF.sub(replaced, site.pages[path])

    def target(self, site: Site, here: str, link: str) -> str:
        link = link.replace("&amp;", "&")
        if link.startswith(("#", "mailto:", "javascript:")):
            return link
        plain = urldefrag(link).url.removeprefix("file://")
        if plain.startswith(("http:", "https:", "//")):
            return self.absolute(plain) or link
        path = posixpath.normpath(urljoin(here, plain or here)) if plain else here
        if plain.endswith("/"):
            path += "/index.html"
        owner = next((other for root, other in self.by_root if path.startswith(root)), None)
        return link if owner is None else owner.url(path.removeprefix(owner.root))

    def absolute(self, link: str) -> str:
        parts = urlsplit(link)
        host, words = (parts.hostname or "").removeprefix("www."), [word for word in parts.path.split("/") if word]
        if host in (
            "github.com",
            "gitlab.com",
            "pypi.org",
            "pypi.python.org",
            "pythonhosted.org",
            "packages.python.org",
        ):
            names = words[INDEXES[host] :][:1]
            name = re.sub(r"^(python-|py-)", "", names[0].lower()) if names and len(words) <= 2 else ""
            return self.by_name[name].url("") if name in self.by_name else ""
        name = re.sub(r"\.readthedocs\.(io|org|com)$", "", host)
        site = self.by_host.get(host) or self.by_host.get(host.removeprefix("docs.")) or self.by_name.get(name)
        if site is None:
            return ""
        while words and VERSION.match(words[0]):
            words.pop(0)
        path = "/".join(words)
        for option in (path, f"{path}/index.html", f"{path}.html"):
            if option in site.pages:
                return site.url(option)
        return site.url("") if not words else f"https://{site.host}/{path}"


def responses(sites: Sequence[Site], links: str) -> Iterator[Response]:
    rewriter, rng = LinkRewriter(sites), random.Random(25)
    for number, site in enumerate(sites):
        for path in site.pages:
            html, added = rewriter.html(site, path), list[str]()
            if path == "index.html" and links == "list" and number % 3 == 0:
                added = [f'<a href="{LIST_SITE}">Documentation list</a>']
            if path == "index.html" and links == "friends":
                friends = [rng.choice([other for other in sites if other.field == site.field or rng.random() < 0.04])
                           for _ in range(FRIENDS)]  # fmt: skip
                added = [f'<a href="{other.url("")}">{other.name}</a>' for other in friends if other is not site]
            yield _response(site.url(path), html.replace("</body>", f"<p>{' '.join(added)}</p></body>"))
    if links == "list":
        ordered = sorted(sites, key=lambda site: site.name.lower())
        items = [f'<li><a href="{site.url("")}">{site.name}</a> {escape(site.about)}</li>' for site in ordered]
        yield _response(LIST_SITE, f"<title>Documentation list</title><h1>All</h1><ul>{''.join(items)}</ul>")


def _response(url: str, html: str) -> Response:
    made = urls.make(url)
    return Response(made, 200, "OK", (("Content-Type", "text/html; charset=utf-8"),), html.encode())


def topics(sites: Sequence[Site]) -> list[BedTopic]:
    found, rng = list[BedTopic](), random.Random(24)
    for keywords in FIELDS:
        homes = [Url(urls.make(site.url(""))) for site in sites if site.field == keywords]
        for seeds in DRAWS:
            drawn = rng.sample(homes, seeds)
            targets = tuple(home for home in homes if home not in drawn)
            name = f"{keywords.replace(' ', '-')}-{seeds}"
            found.append(BedTopic(name, ("Software", keywords), keywords, "", tuple(drawn), targets))
    return found


if __name__ == "__main__":
    main()
