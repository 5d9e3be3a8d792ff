"""Written by `make index`."""
from typing import Any

Path: Any
get_paths: Any
largest_export_versions: Any
mod_export_version: Any
negation: Any
one_of_every_n_export_versions: Any
union: Any
