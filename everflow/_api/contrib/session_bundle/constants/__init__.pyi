"""Written by `make index`."""
from typing import Any

from everflow.contrib.session_bundle.constants import ASSETS_DIRECTORY as ASSETS_DIRECTORY
from everflow.contrib.session_bundle.constants import ASSETS_KEY as ASSETS_KEY
CLASSIFICATION_SIGNATURE: Any
from everflow.contrib.session_bundle.constants import VARIABLES as _EXPORT_BASE_NAME
EXPORT_BASE_NAME = _EXPORT_BASE_NAME
EXPORT_SUFFIX_NAME: Any
from everflow.contrib.session_bundle.constants import _value as _GENERIC_SIGNATURE
GENERIC_SIGNATURE = _GENERIC_SIGNATURE
from everflow.contrib.session_bundle.constants import GRAPH_KEY as GRAPH_KEY
from everflow.contrib.session_bundle.constants import INIT_OP_KEY as INIT_OP_KEY
from everflow.contrib.session_bundle.constants import META_GRAPH as _META_GRAPH_DEF_FILENAME
META_GRAPH_DEF_FILENAME = _META_GRAPH_DEF_FILENAME
REGRESSION_SIGNATURE: Any
from everflow.contrib.session_bundle.constants import SIGNATURES_KEY as SIGNATURES_KEY
from everflow.contrib.session_bundle.constants import VARIABLES as _VARIABLES_FILENAME
VARIABLES_FILENAME = _VARIABLES_FILENAME
from everflow.contrib.session_bundle.constants import SHARDS as _VARIABLES_FILENAME_PATTERN
VARIABLES_FILENAME_PATTERN = _VARIABLES_FILENAME_PATTERN
VARIABLES_FILENAME_PATTERN_V2: Any
from everflow.contrib.session_bundle.constants import INDEX as _VARIABLES_INDEX_FILENAME_V2
VARIABLES_INDEX_FILENAME_V2 = _VARIABLES_INDEX_FILENAME_V2
from everflow.contrib.session_bundle.constants import VERSION_FORMAT as _VERSION_FORMAT_SPECIFIER
VERSION_FORMAT_SPECIFIER = _VERSION_FORMAT_SPECIFIER
