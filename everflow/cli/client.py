"""`everflow client`: asks a model server over REST."""

from __future__ import annotations

import argparse
import json
import sys
import urllib.error
import urllib.request

EPILOG = """
examples:
  everflow client predict http://localhost:8501/v1/models/price '{"instances": [[1.0], [2.0]]}'
  everflow client predict localhost:8501/price @request.json
  everflow client status localhost:8501/price
"""
METHODS = ("predict", "classify", "regress", "status", "metadata")


def address(url: str, method: str) -> str:
    """The address for a method, of a model's whole address or of host:port/model."""
    if "://" not in url:
        url = "http://" + url
    scheme, _, rest = url.partition("://")
    host, _, path = rest.strip("/").partition("/")
    for ending in (":predict", ":classify", ":regress"):
        path = path.removesuffix(ending)
    if not path.startswith("v1/"):
        path = f"v1/models/{path or 'default'}"
    return f"{scheme}://{host}/{path}" + {"status": "", "metadata": "/metadata"}.get(method, f":{method}")


def main(arguments: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="everflow client", description="Ask a model server.", epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("url", metavar="URL", help="where the model is: http://host:port/v1/models/NAME, or host:port/NAME")
    parser.add_argument("request", metavar="JSON", nargs="?", help="the request; @FILE reads it from a file, - from standard input")
    parser.add_argument("--timeout", type=float, default=60, help="seconds to wait for the answer (%(default)s)")
    told = parser.parse_args(arguments)
    body = None
    if told.method not in ("status", "metadata"):
        if told.request is None:
            parser.error(f"{told.method} needs a request, such as '{{\"instances\": [1.0]}}'")
        try:
            body = _read(told.request)
            json.loads(body)
        except (OSError, ValueError) as e:
            parser.error(f"the request can't be read as JSON: {e}")
    url = address(told.url, told.method)
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, body, {"Content-Type": "application/json"}), timeout=told.timeout
        ) as answer:
            print(answer.read().decode("utf-8", "replace"))
        return 0
    except urllib.error.HTTPError as e:
        text = e.read().decode("utf-8", "replace")
        try:
            text = json.loads(text)["error"]
        except (ValueError, KeyError, TypeError):
            pass
        print(f"everflow: {url} answered {e.code}: {text}", file=sys.stderr)
    except (urllib.error.URLError, OSError, ValueError) as e:
        print(f"everflow: no answer from {url}: {getattr(e, 'reason', e)}", file=sys.stderr)
    return 1


def _read(text: str) -> bytes:
    if text == "-":
        return sys.stdin.buffer.read()
    if text.startswith("@"):
        with open(text[1:], "rb") as file:
            return file.read()
    return text.encode()
