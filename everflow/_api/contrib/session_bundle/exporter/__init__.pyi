"""Written by `make index`."""
from typing import Any

from everflow.contrib.session_bundle.exporting import Exporter as Exporter
from everflow.contrib.session_bundle.exporting import classification_signature as classification_signature
from everflow.contrib.session_bundle.exporting import generic_signature as generic_signature
from everflow.contrib.session_bundle.exporting import gfile_copy_callback as gfile_copy_callback
from everflow.contrib.session_bundle.exporting import regression_signature as regression_signature
