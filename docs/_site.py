"""Hooks of the site: the pages are written for a code host, and here there is no repository around them."""

import re
from pathlib import Path

_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<to>[^)#\s]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown, *, page, config, **_):
    """Leave of a link to a file outside docs/ its text: the site does not hold that file."""
    if page.parent is None:  # a tab of its own: a menu with one entry helps nobody
        page.meta["hide"] = ["navigation"]
    root = Path(config.docs_dir).resolve()
    here = (root / page.file.src_uri).parent

    def leads_outside(to):
        return "://" not in to and not to.startswith("mailto:") and not (here / to).resolve().is_relative_to(root)

    return _LINK.sub(lambda link: link["text"] if leads_outside(link["to"]) else link[0], markdown)
