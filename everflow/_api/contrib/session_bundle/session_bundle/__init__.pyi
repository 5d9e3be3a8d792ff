"""Written by `make index`."""
from typing import Any

from everflow.contrib.session_bundle.loading import load_session_bundle_from_path as load_session_bundle_from_path
from everflow.contrib.session_bundle.loading import maybe_session_bundle_dir as maybe_session_bundle_dir
