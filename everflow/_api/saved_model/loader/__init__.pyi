"""Written by `make index`."""
from typing import Any

from everflow.saved_model.loader import load as load
from everflow.saved_model.loader import maybe_saved_model_directory as maybe_saved_model_directory
