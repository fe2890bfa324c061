"""PDF files as HTML, so that everything that reads pages reads them too (docs/decisions/0045).

`landing` calls `convert`, which runs `child_process` for each file, with limits of its own. That process reads lines
with their position and type size (`text_lines`, the only module that uses pypdf), finds title, authors, paragraphs and
references (`read_paper`), and writes HTML (`paper_html`) to its output. `convert` returns it as an HTML response.
"""
