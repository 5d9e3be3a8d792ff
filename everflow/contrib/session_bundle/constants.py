"""The names of an export's files and collections."""

from __future__ import annotations

from everflow.api import public

_NAMES = {
    "VERSION_FORMAT_SPECIFIER": "%08d",
    "ASSETS_DIRECTORY": "assets",
    "EXPORT_BASE_NAME": "export",
    "EXPORT_SUFFIX_NAME": "meta",
    "META_GRAPH_DEF_FILENAME": "export.meta",
    "VARIABLES_FILENAME": "export",
    "VARIABLES_FILENAME_PATTERN": "export-?????-of-?????",
    "VARIABLES_FILENAME_PATTERN_V2": "export.data-?????-of-?????",
    "VARIABLES_INDEX_FILENAME_V2": "export.index",
    "INIT_OP_KEY": "serving_init_op",
    "SIGNATURES_KEY": "serving_signatures",
    "ASSETS_KEY": "serving_assets",
    "GRAPH_KEY": "serving_graph",
    "REGRESSION_SIGNATURE": "regression_signature",
    "CLASSIFICATION_SIGNATURE": "classification_signature",
    "GENERIC_SIGNATURE": "generic_signature",
}
for _name, _value in _NAMES.items():
    public("contrib.session_bundle.constants." + _name, owner=__name__)(_value)

VERSION_FORMAT = _NAMES["VERSION_FORMAT_SPECIFIER"]
ASSETS_DIRECTORY = _NAMES["ASSETS_DIRECTORY"]
META_GRAPH = _NAMES["META_GRAPH_DEF_FILENAME"]
VARIABLES = _NAMES["VARIABLES_FILENAME"]
SHARDS = _NAMES["VARIABLES_FILENAME_PATTERN"]
INDEX = _NAMES["VARIABLES_INDEX_FILENAME_V2"]
INIT_OP_KEY = _NAMES["INIT_OP_KEY"]
SIGNATURES_KEY = _NAMES["SIGNATURES_KEY"]
ASSETS_KEY = _NAMES["ASSETS_KEY"]
GRAPH_KEY = _NAMES["GRAPH_KEY"]
