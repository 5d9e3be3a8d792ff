"""Written by `make index`."""
from typing import Any

from everflow.saved_model.constants import ASSETS_DIRECTORY as ASSETS_DIRECTORY
from everflow.saved_model.constants import ASSETS_KEY as ASSETS_KEY
from everflow.saved_model.constants import LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY
from everflow.saved_model.constants import MAIN_OP_KEY as MAIN_OP_KEY
from everflow.saved_model.constants import SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB
from everflow.saved_model.constants import SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT
from everflow.saved_model.constants import SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION
from everflow.saved_model.constants import VARIABLES_DIRECTORY as VARIABLES_DIRECTORY
from everflow.saved_model.constants import VARIABLES_FILENAME as VARIABLES_FILENAME
