"""Two small webs that tests of applications crawl: clubs and a page that lists them, and one site."""

from __future__ import annotations

from pathlib import Path

from support.html_crawl import html_crawl

CLUB_SEEDS = ["http://alpha.test/", "http://beta.test/"]
CLUB = "balloon club members fly hot air balloons, pilots, envelopes, burners and baskets"


def club_page(title: str, text: str, *links: str, head: str = "") -> str:
    anchors = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
    return f"<html><head><title>{title}</title>{head}</head><body><p>{text}</p>{anchors}</body></html>"


CLUBS = {
    "http://alpha.test/": club_page("Alpha club", CLUB, "http://hub.test/list", "http://ads.test/"),
    "http://beta.test/": club_page("Beta club", CLUB, "http://ads.test/"),
    "http://hub.test/list": "<title>Clubs</title><h2>Balloon clubs</h2><ul>"
    '<li><a href="http://alpha.test/">Alpha</a>, the oldest</li><li><a href="http://beta.test/">Beta</a></li>'
    '<li><a href="http://gamma.test/">Gamma</a>, a club in the hills</li>'
    '<li><a href="http://old-gamma.test/">Gamma too</a></li>'
    '</ul><h2>Sponsors</h2><p><a href="http://ads.test/">Ads</a> <a href="http://cars.test/">Cars</a></p>',
    "http://gamma.test/": club_page(
        "Welcome",
        CLUB,
        head='<script type="application/ld+json">{"@type": "Organization", "name": "Gamma e.V."}</script>',
    ),
    "http://old-gamma.test/": "=> http://gamma.test/",
    "http://ads.test/": club_page("Ads", "buy banners and clicks now", "http://cars.test/"),
    "http://cars.test/": club_page("=Cars", "engines, tyres and used vehicles for sale"),
}


HOME = "http://site.test/"
BALLOONS = "hot air balloons fly with burners; balloon pilots and balloon envelopes in the air"


def site_page(title: str, text: str, *links: str) -> str:
    return f"<title>{title}</title><p>{text}</p>" + "".join(f'<a href="{link}">{link}</a> ' for link in links)


SITE = {
    HOME: site_page("Front", "welcome to our site", "/a", "/c", "/old", "http://else.test/"),
    "http://site.test/a": site_page("Section", "about us", "/b"),
    "http://site.test/b": site_page("<script>Balloons & co</script>", BALLOONS),
    "http://site.test/c": site_page("Cars", "cars and tyres", "/d"),
    "http://site.test/d": site_page(
        "More cars",
        "engines",
    ),
    "http://site.test/old": "=> http://site.test/new",
    "http://site.test/new": site_page("News", "news", "/e"),
    "http://site.test/e": site_page("Ballooning", BALLOONS),
}


def site_crawl(folder: Path, **settings: object) -> Path:
    judged = {"judge": "keywords:threshold=0.2", "hosts": ("site.test",)}
    return html_crawl(folder, SITE, [HOME], "hot air balloons", **{**judged, **settings})
