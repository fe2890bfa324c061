"""Main text and language: quality on a hand-made sample, and CPU time per page, of the libraries we considered.

    python benchmarks/main_text.py          # needs: pip install resiliparse trafilatura py3langid

Each page of the sample is an article in a layout with menus, side bars, comments, cookie notices and footers. Quality
is the mean F1 between the multisets of extracted and labelled words. Articles and layouts are our own. The figures are
in docs/decisions/0002.
"""

# ruff: noqa: E501 - each line of the sample is one sentence
from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from html import escape

ARTICLES = {
    "en": [
        "A hot air balloon rises because the air inside its envelope is warmer, and therefore lighter, than the air outside.",
        "The pilot heats the air with a burner that is fed from propane cylinders in the basket.",
        "Steering is only possible by changing height, since winds blow in different directions at different heights.",
        "Most flights begin shortly after sunrise, when the air is calm and the ground has not yet warmed up.",
    ],
    "de": [
        "Ein Heißluftballon steigt, weil die Luft in seiner Hülle wärmer und damit leichter ist als die Luft draußen.",
        "Der Pilot erhitzt die Luft mit einem Brenner, der aus Propanflaschen im Korb gespeist wird.",
        "Steuern kann er nur über die Höhe, denn der Wind weht in jeder Schicht in eine andere Richtung.",
        "Die meisten Fahrten beginnen kurz nach Sonnenaufgang, wenn die Luft noch ruhig ist.",
    ],
    "fr": [
        "Une montgolfière monte parce que l'air de son enveloppe est plus chaud, donc plus léger, que l'air extérieur.",
        "Le pilote chauffe l'air avec un brûleur alimenté par les bouteilles de propane de la nacelle.",
        "On ne peut la diriger qu'en changeant d'altitude, car le vent souffle autrement à chaque hauteur.",
        "La plupart des vols commencent peu après le lever du soleil, quand l'air est encore calme.",
    ],
    "es": [
        "Un globo aerostático sube porque el aire de su interior está más caliente y pesa menos que el aire de fuera.",
        "El piloto calienta el aire con un quemador que recibe propano de las botellas de la cesta.",
        "Solo se puede dirigir cambiando de altura, porque el viento sopla en otra dirección en cada capa.",
        "La mayoría de los vuelos empiezan poco después del amanecer, cuando el aire está en calma.",
    ],
    "it": [
        "Una mongolfiera sale perché l'aria dentro l'involucro è più calda e quindi più leggera dell'aria esterna.",
        "Il pilota scalda l'aria con un bruciatore alimentato dalle bombole di propano nella cesta.",
        "Si può governare solo cambiando quota, perché il vento soffia in direzioni diverse a ogni altezza.",
        "Quasi tutti i voli iniziano poco dopo l'alba, quando l'aria è ancora tranquilla.",
    ],
    "nl": [
        "Een heteluchtballon stijgt omdat de lucht in de ballon warmer en dus lichter is dan de lucht erbuiten.",
        "De piloot verwarmt de lucht met een brander die propaan krijgt uit de flessen in de mand.",
        "Sturen kan alleen door van hoogte te veranderen, want de wind waait op elke hoogte anders.",
        "De meeste vluchten beginnen kort na zonsopgang, wanneer de lucht nog rustig is.",
    ],
    "ru": [
        "Воздушный шар поднимается, потому что воздух внутри оболочки теплее и поэтому легче наружного воздуха.",
        "Пилот нагревает воздух горелкой, которая получает пропан из баллонов в корзине.",
        "Управлять можно только высотой, потому что на разных высотах ветер дует в разные стороны.",
        "Большинство полётов начинается вскоре после восхода солнца, когда воздух ещё спокоен.",
    ],
    "pl": [
        "Balon na ogrzane powietrze unosi się, ponieważ powietrze w powłoce jest cieplejsze i lżejsze od otoczenia.",
        "Pilot ogrzewa powietrze palnikiem zasilanym propanem z butli w koszu.",
        "Sterować można tylko wysokością, bo na każdej wysokości wiatr wieje w innym kierunku.",
        "Większość lotów zaczyna się krótko po wschodzie słońca, kiedy powietrze jest spokojne.",
    ],
}
MENU = ["Home", "Products", "About us", "Contact", "Login", "Newsletter", "Imprint", "Privacy"]
LINKS = "".join(f"<li><a href='/{word.lower().replace(' ', '-')}'>{word}</a></li>" for word in MENU)
COOKIES = "<div id='cookie-banner' class='consent'>We use cookies to improve your experience. <button>Accept all</button></div>"
FOOTER = f"<footer><p>© 2026 Example Ltd. All rights reserved.</p><ul>{LINKS}</ul></footer>"
TEASERS = "".join(
    f"<div class='teaser'><a href='/t{n}'>You will not believe story number {n}</a><p>Read more about it today.</p></div>"
    for n in range(6)
)
COMMENTS = "<section id='comments' class='comments'><h3>2 comments</h3><div class='comment'>First! Nice pictures.</div></section>"


def semantic(title: str, body: list[str]) -> str:
    text = "".join(f"<p>{line}</p>" for line in body)
    return (
        f"{COOKIES}<header><nav><ul>{LINKS}</ul></nav></header><main><article><h1>{title}</h1>{text}</article></main>"
        f"<aside>{TEASERS}</aside>{COMMENTS}{FOOTER}"
    )


def divisions(title: str, body: list[str]) -> str:
    text = "".join(f"<div class='par'>{line}</div>" for line in body)
    return (
        f"<div class='nav'><ul>{LINKS}</ul></div><div class='sidebar'>{TEASERS}</div><div class='content'><h2>{title}</h2>"
        f"{text}</div><div class='footer'>© 2026 Example Ltd. All rights reserved.</div>"
    )


def tables(title: str, body: list[str]) -> str:
    text = "<br><br>".join(body)
    return (
        f"<table width='100%'><tr><td colspan='2'><a href='/'>Home</a> | <a href='/s'>Search</a> | <a href='/m'>Mail</a>"
        f"</td></tr><tr><td width='150'><ul>{LINKS}</ul></td><td><font size='5'>{title}</font><p>{text}</td></tr></table>"
    )


def forum(title: str, body: list[str]) -> str:
    posts = "".join(
        f"<div class='post'><div class='author'><a href='/u{n}'>user{n}</a> 42 posts</div><div class='message'><p>{line}</p>"
        f"</div><div class='actions'><a href='#'>Reply</a> <a href='#'>Report</a></div></div>"
        for n, line in enumerate(body)
    )
    return f"<nav><ul>{LINKS}</ul></nav><h1>{title}</h1><div class='thread'>{posts}</div>{FOOTER}"


LAYOUTS: tuple[Callable[[str, list[str]], str], ...] = (semantic, divisions, tables, forum)
Labelled = tuple[str, str, str]


def sample() -> list[Labelled]:
    """(language, main text, HTML) of every page."""
    pages = []
    for language, body in ARTICLES.items():
        for layout in LAYOUTS:
            title, shown = body[0].split(",")[0], [escape(line) for line in body]
            page = f"<!DOCTYPE html><html><head><title>{escape(title)}</title></head><body>{layout(escape(title), shown)}</body></html>"
            pages.append((language, " ".join([title, *body]), page))
    return pages


def f1(found: str, expected: str) -> float:
    found_words, expected_words = Counter(found.split()), Counter(expected.split())
    common = sum((found_words & expected_words).values())
    return 2 * common / (found_words.total() + expected_words.total()) if common else 0.0


def timed(work: Callable[[], None], times: int = 20) -> float:
    """CPU milliseconds per call, the lowest of five rounds."""
    rounds = []
    for _ in range(5):
        begin = time.process_time()
        for _ in range(times):
            work()
        rounds.append((time.process_time() - begin) / times)
    return 1000 * min(rounds)


def main() -> None:
    import py3langid
    import trafilatura
    from resiliparse.extract.html2text import extract_plain_text

    from scenthound.page.main_text import language_of, main_text

    pages = sample()
    extractors: dict[str, Callable[[str], str]] = {
        "all text (no extraction)": lambda page: str(extract_plain_text(page)),
        "resiliparse": main_text,
        "trafilatura": lambda page: trafilatura.extract(page, include_comments=False) or "",
        "trafilatura, recall": lambda page: trafilatura.extract(page, favor_recall=True, include_comments=False) or "",
    }
    long_page = f"<html><body>{semantic('Balloons', ARTICLES['en'] * 30)}</body></html>"
    for name, extract in extractors.items():
        scores = {layout.__name__: 0.0 for layout in LAYOUTS}
        for index, (_, expected, page) in enumerate(pages):
            scores[LAYOUTS[index % len(LAYOUTS)].__name__] += f1(extract(page), expected) / len(ARTICLES)
        mean = sum(scores.values()) / len(scores)
        each = " ".join(f"{layout} {score:.2f}" for layout, score in scores.items())
        speed = timed(lambda extract=extract: extract(long_page) and None)  # type: ignore[misc]
        print(f"{name:26} F1 {mean:.3f}  ({each})  {speed:.2f} ms for a page of {len(long_page):,} characters")
    lines = [(language, line) for language, body in ARTICLES.items() for line in [*body, " ".join(body)]]
    identifiers = {"resiliparse": language_of, "py3langid": lambda text: str(py3langid.classify(text)[0])}
    for name, identify in identifiers.items():
        right = sum(identify(line) == language for language, line in lines)
        text = " ".join(ARTICLES["en"] * 30)
        speed = timed(lambda identify=identify, text=text: identify(text) and None)  # type: ignore[misc]
        print(f"language, {name:16} {right} of {len(lines)} right  {speed:.2f} ms for {len(text):,} characters")


if __name__ == "__main__":
    main()
