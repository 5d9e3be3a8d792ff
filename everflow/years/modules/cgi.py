"""`cgi`: text for HTML, and values of headers."""

from __future__ import annotations

import email.message
import html


def escape(s: str, quote: bool = False) -> str:
    """Unlike html.escape, leaves quotes alone unless asked."""
    escaped = html.escape(s, quote=False)
    return escaped.replace('"', "&quot;") if quote else escaped


def parse_header(line: str) -> tuple[str, dict[str, str]]:
    """('text/html', {'charset': 'utf-8'}) of `text/html; charset=utf-8`."""
    message = email.message.Message()
    message["content-type"] = line
    (value, _), *rest = message.get_params() or [("", "")]
    return value, dict(rest)
