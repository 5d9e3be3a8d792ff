"""Files from the network, kept in a folder and checked: `tf.keras.utils.get_file`."""

from __future__ import annotations

import hashlib
import os
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from typing import Any

from everflow.api import internal, public

PIECE = 1 << 16
# Seconds between two looks of the progress line.
PAUSE = 0.2


@internal("keras.utils.data_utils._hash_file")
def _hash_file(fpath: Any, algorithm: str = "sha256", chunk_size: int = 65535) -> str:
    """The checksum of a file, in hexadecimal."""
    found = hashlib.sha256() if algorithm == "sha256" else hashlib.md5()
    with open(fpath, "rb") as file:
        while piece := file.read(chunk_size):
            found.update(piece)
    return found.hexdigest()


@internal("keras.utils.data_utils.validate_file")
def validate_file(fpath: Any, file_hash: str, algorithm: str = "auto", chunk_size: int = 65535) -> bool:
    """Whether a file has a checksum: SHA-256, or MD5 where it is shorter."""
    is_long = algorithm == "sha256" or (algorithm == "auto" and len(file_hash) == 64)
    return _hash_file(fpath, "sha256" if is_long else "md5", chunk_size) == str(file_hash)


class _Progress:
    """A line on terminals that says how much has come."""

    def __init__(self, total: int | None) -> None:
        self.total, self.done, self.shown = total, 0, 0.0
        self.is_watched = sys.stdout.isatty()

    def add(self, count: int) -> None:
        self.done += count
        if self.is_watched and (time.monotonic() - self.shown > PAUSE or self.done == self.total):
            self.shown = time.monotonic()
            part = f" of {self.total / 1e6:.1f} MB ({100 * self.done // self.total} %)" if self.total else " MB"
            print(f"\r{self.done / 1e6:8.1f}{part}", end="", flush=True)

    def end(self) -> None:
        if self.is_watched:
            print()


def _fetch(origin: str, path: str) -> None:
    """Downloads a file under another name first: what is broken off leaves nothing behind."""
    print("Downloading data from", origin)
    partial = path + ".part"
    try:
        with urllib.request.urlopen(origin) as source, open(partial, "wb") as target:
            length = source.headers.get("Content-Length")
            progress = _Progress(int(length) if length else None)
            while piece := source.read(PIECE):
                target.write(piece)
                progress.add(len(piece))
            progress.end()
        os.replace(partial, path)
    except (urllib.error.HTTPError, urllib.error.URLError) as error:
        code = getattr(error, "code", None) or getattr(error.reason, "errno", None)
        reason = getattr(error, "msg", None) or error.reason
        raise ConnectionError(f"URL fetch failure on {origin}: {code} -- {reason}. Without a network, put the file at {path}.") from None
    finally:
        if os.path.exists(partial):
            os.remove(partial)


def _extract(path: str, folder: str, archive_format: Any) -> bool:
    """Unpacks an archive, unless it is none of the formats."""
    if archive_format is None:
        return False
    wanted = ["tar", "zip"] if archive_format == "auto" else [archive_format] if isinstance(archive_format, str) else list(archive_format)
    for kind in wanted:
        if kind == "tar" and tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                archive.extractall(folder, filter="data")
            return True
        if kind == "zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                packed.extractall(folder)
            return True
    return False


@public("keras.utils.get_file")
def get_file(
    fname: str,
    origin: str,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: Any = "auto",
    cache_dir: str | None = None,
) -> str:
    """The path of a file in the cache (`~/.keras/datasets`), downloaded unless it is there with the right checksum."""
    base = cache_dir or os.path.expanduser(os.path.join("~", ".keras"))
    if file_hash is None and md5_hash is not None:
        file_hash, hash_algorithm = md5_hash, "md5"
    if not os.access(os.path.expanduser(base if os.path.exists(base) else os.path.dirname(base) or "."), os.W_OK):
        base = os.path.join(tempfile.gettempdir(), ".keras")
    folder = os.path.join(os.path.expanduser(base), cache_subdir)
    os.makedirs(folder, exist_ok=True)
    unpacked = os.path.join(folder, fname)
    path = unpacked + ".tar.gz" if untar else unpacked
    is_known = os.path.exists(path)
    if is_known and file_hash is not None and not validate_file(path, file_hash, hash_algorithm):
        print(
            f"A local file was found, but it seems to be incomplete or outdated because the {hash_algorithm} file hash does not match "
            f"the original value of {file_hash} so we will re-download the data."
        )
        is_known = False
    if not is_known:
        _fetch(origin, path)
        if file_hash is not None and not validate_file(path, file_hash, hash_algorithm):
            os.remove(path)
            raise ValueError(f"What {origin} gave is not the file that was expected: its checksum is not {file_hash}.")
    if untar:
        if not os.path.exists(unpacked):
            _extract(path, folder, "tar")
        return unpacked
    if extract:
        _extract(path, folder, archive_format)
    return path
