"""Written by `make index`."""
from typing import Any

from everflow.contrib.session_bundle.loading import load_session_bundle_or_saved_model_bundle_from_path as load_session_bundle_or_saved_model_bundle_from_path
