"""PDF files as HTML, so that everything that reads pages reads them too (docs/decisions/0045).

`convert` runs `process` for each file, a process with limits of its own; that one reads lines with their place and size
(`lines`, the only file that knows pypdf), finds title, authors and references (`paper`), and writes HTML (`html`).
"""
