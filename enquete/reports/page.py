"""report.html: the Markdown report as one self-contained file that can be read, shared and printed."""

from __future__ import annotations

import html

from markdown_it import MarkdownIt

from enquete.state.asking import Language

_STYLE = """
:root { --ink: #1c2329; --soft: #5a6672; --line: #d5dbe1; --band: #f4f6f8; --mark: #0b5c7a; }
* { box-sizing: border-box; }
body { font: 16px/1.55 Georgia, 'Times New Roman', serif; color: var(--ink); margin: 0 auto; max-width: 62rem; padding: 2rem 1.5rem 4rem; }
h1, h2, h3, table, nav { font-family: system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { margin-top: 2.6rem; border-bottom: 2px solid var(--mark); padding-bottom: .2rem; }
h3 { margin-top: 1.8rem; color: var(--mark); }
blockquote { border-left: 4px solid #b3261e; background: #fdf3f2; margin: 1rem 0; padding: .3rem 1rem; }
code { font-size: .82em; background: var(--band); padding: .05em .25em; border-radius: 3px; overflow-wrap: anywhere; }
.table { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .82rem; line-height: 1.35; min-width: 40%; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--ink); } tbody tr:nth-child(even) { background: var(--band); }
em { color: var(--soft); } nav { font-size: .9rem; columns: 2; } nav a { display: block; color: var(--mark); text-decoration: none; }
@media print {
  body { font-size: 10pt; max-width: none; padding: 0; } nav { display: none; } .table { overflow: visible; }
  table { font-size: 7.5pt; } h2, h3 { break-after: avoid; } tr, blockquote { break-inside: avoid; } thead { display: table-header-group; }
}
@page { size: A4 landscape; margin: 15mm; }
"""


def page(markdown: str, language: Language) -> str:
    """The whole page. Nothing is loaded from elsewhere; HTML within the Markdown stays text."""
    renderer = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    tokens = renderer.parse(markdown)
    title = ""
    entries: list[str] = []
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag in ("h1", "h2"):
            text = "".join(child.content for child in tokens[place + 1].children or [])
            title = title or text
            if token.tag == "h2":
                token.attrSet("id", f"s{len(entries) + 1}")
                entries.append(text)
    body = renderer.renderer.render(tokens, renderer.options, {})
    body = body.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")
    listed = "".join(f'<a href="#s{number}">{html.escape(text)}</a>' for number, text in enumerate(entries, start=1))
    head, _, rest = body.partition("</h1>")
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"{head}</h1>\n<nav>{listed}</nav>\n{rest}</body>\n</html>\n"
    )
