"""What a page says: from text to terms, from terms to vectors, from vectors to one number.

`tokens` cuts text into terms (an `Analyser` says with which stop list and whether stems are taken).
`vectors` compares counts of terms, while a crawl runs; `smart` weighs them over a whole pool of pages,
after it. `contexts` asks these questions of a `model.Page`, of its elements, anchors and windows, and
lets the page remember the answers, so that strategies and the judge share them. `judge` is the
similarity that a trail records.

Nothing here keeps state that could change an answer: what is remembered is only ever recomputed, and
how much is remembered is bounded.
"""
