"""Convert PDF files to HTML, so that all code that reads pages can read them (docs/decisions/0045).

`landing` calls `convert`, which runs `child_process` for each file, with its own limits. That process reads lines
with their position and type size (`text_lines`, the only module that uses pypdf), finds title, authors, paragraphs and
references (`read_paper`), and writes HTML (`paper_html`) to its output. `convert` returns it as an HTML response.
"""
