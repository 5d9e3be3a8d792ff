"""Written by `make index`."""
from typing import Any

from everflow.saved_model.builder import SavedModelBuilder as SavedModelBuilder
