"""A hook of mkdocs: pages that lie outside docs/ are part of the site, and links to source files become plain text.

`docs/` is also read in the repository, where such links lead to files. The site has no source files, so their names
stay and the links go.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PROJECT_PAGES = (
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "enquete/analysis/README.md", "tests/analysis/README.md",
    "tests/reports/README.md", "examples/README.md", "examples/best-worst/README.md",
)  # fmt: skip
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that lie outside docs/."""
    for name in PROJECT_PAGES:
        files.append(File.generated(config, f"project/{name}", content=(ROOT / name).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Rewrite links, which are written as they hold in the repository."""
    place = page.file.src_uri
    inside = place.removeprefix("project/")
    in_repository = inside if inside != place else f"docs/{place}"

    def rewrite(match: re.Match[str]) -> str:
        is_image, text, target, anchor = match.groups()
        if "://" in target or target.startswith("mailto:") or not target:
            return match[0]
        meant = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository), target))
        on_site = meant.removeprefix("docs/") if meant.startswith("docs/") else f"project/{meant}"
        if files.get_file_from_path(on_site) is None:
            return text
        relative = posixpath.relpath(on_site, posixpath.dirname(place) or ".")
        return f"{is_image}[{text}]({relative}{anchor or ''})"

    return LINK.sub(rewrite, markdown)
