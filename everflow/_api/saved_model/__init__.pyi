"""Written by `make index`."""
from typing import Any

from everflow.saved_model.constants import ASSETS_DIRECTORY as ASSETS_DIRECTORY
from everflow.saved_model.constants import ASSETS_KEY as ASSETS_KEY
from everflow.train.tracking.autotracking import TrackableAsset as _Asset
Asset = _Asset
from everflow.saved_model.builder import SavedModelBuilder as _Builder
Builder = _Builder
from everflow.saved_model.constants import CLASSIFY_INPUTS as CLASSIFY_INPUTS
from everflow.saved_model.constants import CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME
from everflow.saved_model.constants import CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES
from everflow.saved_model.constants import CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES
from everflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.saved_model.constants import GPU as GPU
from everflow.saved_model.constants import LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY
from everflow.saved_model.constants import MAIN_OP_KEY as MAIN_OP_KEY
from everflow.saved_model.constants import PREDICT_INPUTS as PREDICT_INPUTS
from everflow.saved_model.constants import PREDICT_METHOD_NAME as PREDICT_METHOD_NAME
from everflow.saved_model.constants import PREDICT_OUTPUTS as PREDICT_OUTPUTS
from everflow.saved_model.constants import REGRESS_INPUTS as REGRESS_INPUTS
from everflow.saved_model.constants import REGRESS_METHOD_NAME as REGRESS_METHOD_NAME
from everflow.saved_model.constants import REGRESS_OUTPUTS as REGRESS_OUTPUTS
from everflow.saved_model.constants import SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB
from everflow.saved_model.constants import SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT
from everflow.saved_model.constants import SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION
from everflow.saved_model.constants import SERVING as SERVING
from everflow.saved_model.constants import TPU as TPU
from everflow.saved_model.constants import TRAINING as TRAINING
from everflow.saved_model.constants import VARIABLES_DIRECTORY as VARIABLES_DIRECTORY
from everflow.saved_model.constants import VARIABLES_FILENAME as VARIABLES_FILENAME
from everflow.saved_model.signatures import build_signature_def as build_signature_def
from everflow.saved_model.tensor_infos import build_tensor_info as build_tensor_info
from everflow._api.saved_model import builder as builder
from everflow.saved_model.signatures import classification_signature_def as classification_signature_def
from everflow._api.saved_model import constants as constants
from everflow.saved_model.loader import maybe_saved_model_directory as _contains_saved_model
contains_saved_model = _contains_saved_model
from everflow._api.saved_model import experimental as experimental
from everflow.saved_model.tensor_infos import get_tensor_from_tensor_info as get_tensor_from_tensor_info
from everflow.saved_model.signatures import is_valid_signature as is_valid_signature
from everflow.saved_model.loader import load as load
from everflow.saved_model.object_loading import load as _load_v2
load_v2 = _load_v2
from everflow._api.saved_model import loader as loader
from everflow._api.saved_model import main_op as main_op
from everflow.saved_model.main_ops import main_op_with_restore as main_op_with_restore
from everflow.saved_model.loader import maybe_saved_model_directory as maybe_saved_model_directory
from everflow.saved_model.signatures import predict_signature_def as predict_signature_def
from everflow.saved_model.signatures import regression_signature_def as regression_signature_def
from everflow.saved_model.object_saving import save as save
from everflow._api.saved_model import signature_constants as signature_constants
from everflow._api.saved_model import signature_def_utils as signature_def_utils
from everflow.saved_model.builder import simple_save as simple_save
from everflow._api.saved_model import tag_constants as tag_constants
from everflow._api.saved_model import utils as utils
