"""The names of files, tags, keys and methods of SavedModels."""

from __future__ import annotations

from everflow.api import internal, public

ASSETS_DIRECTORY = "assets"
ASSETS_KEY = "saved_model_assets"
EXTRA_ASSETS_DIRECTORY = "assets.extra"
INIT_OP_SIGNATURE_KEY = "__saved_model_init_op"
LEGACY_INIT_OP_KEY = "legacy_init_op"
MAIN_OP_KEY = "saved_model_main_op"
SAVED_MODEL_FILENAME_PB = "saved_model.pb"
SAVED_MODEL_FILENAME_PBTXT = "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION = 1
TRAIN_OP_KEY = "saved_model_train_op"
TRAIN_OP_SIGNATURE_KEY = "__saved_model_train_op"
VARIABLES_DIRECTORY = "variables"
VARIABLES_FILENAME = "variables"
DEBUG_DIRECTORY = "debug"

SERVING = "serve"
TRAINING = "train"
EVAL = "eval"
GPU = "gpu"
TPU = "tpu"

CLASSIFY_INPUTS = "inputs"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES = "classes"
CLASSIFY_OUTPUT_SCORES = "scores"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
DEFAULT_TRAIN_SIGNATURE_DEF_KEY = "train"
DEFAULT_EVAL_SIGNATURE_DEF_KEY = "eval"
PREDICT_INPUTS = "inputs"
PREDICT_METHOD_NAME = "tensorflow/serving/predict"
PREDICT_OUTPUTS = "outputs"
REGRESS_INPUTS = "inputs"
REGRESS_METHOD_NAME = "tensorflow/serving/regress"
REGRESS_OUTPUTS = "outputs"
SUPERVISED_TRAIN_METHOD_NAME = "tensorflow/supervised/training"
SUPERVISED_EVAL_METHOD_NAME = "tensorflow/supervised/eval"

_FILES = {
    "ASSETS_DIRECTORY": ASSETS_DIRECTORY,
    "ASSETS_KEY": ASSETS_KEY,
    "LEGACY_INIT_OP_KEY": LEGACY_INIT_OP_KEY,
    "MAIN_OP_KEY": MAIN_OP_KEY,
    "SAVED_MODEL_FILENAME_PB": SAVED_MODEL_FILENAME_PB,
    "SAVED_MODEL_FILENAME_PBTXT": SAVED_MODEL_FILENAME_PBTXT,
    "SAVED_MODEL_SCHEMA_VERSION": SAVED_MODEL_SCHEMA_VERSION,
    "VARIABLES_DIRECTORY": VARIABLES_DIRECTORY,
    "VARIABLES_FILENAME": VARIABLES_FILENAME,
}
_TAGS = {"SERVING": SERVING, "TRAINING": TRAINING, "GPU": GPU, "TPU": TPU}
_SIGNATURES = {
    "CLASSIFY_INPUTS": CLASSIFY_INPUTS,
    "CLASSIFY_METHOD_NAME": CLASSIFY_METHOD_NAME,
    "CLASSIFY_OUTPUT_CLASSES": CLASSIFY_OUTPUT_CLASSES,
    "CLASSIFY_OUTPUT_SCORES": CLASSIFY_OUTPUT_SCORES,
    "DEFAULT_SERVING_SIGNATURE_DEF_KEY": DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    "PREDICT_INPUTS": PREDICT_INPUTS,
    "PREDICT_METHOD_NAME": PREDICT_METHOD_NAME,
    "PREDICT_OUTPUTS": PREDICT_OUTPUTS,
    "REGRESS_INPUTS": REGRESS_INPUTS,
    "REGRESS_METHOD_NAME": REGRESS_METHOD_NAME,
    "REGRESS_OUTPUTS": REGRESS_OUTPUTS,
}
for _table, _module in ((_FILES, "constants"), (_TAGS, "tag_constants"), (_SIGNATURES, "signature_constants")):
    for _name, _value in _table.items():
        public(f"saved_model.{_name}", f"saved_model.{_module}.{_name}")(_value)
        internal(f"saved_model.{_module}.{_name}")(_value)

internal("saved_model.constants.EXTRA_ASSETS_DIRECTORY")(EXTRA_ASSETS_DIRECTORY)
internal("saved_model.constants.INIT_OP_SIGNATURE_KEY")(INIT_OP_SIGNATURE_KEY)
internal("saved_model.constants.TRAIN_OP_KEY")(TRAIN_OP_KEY)
internal("saved_model.constants.TRAIN_OP_SIGNATURE_KEY")(TRAIN_OP_SIGNATURE_KEY)
internal("saved_model.constants.SAVED_MODEL_FILENAME_JSON")("saved_model.json")
internal("saved_model.tag_constants.EVAL")(EVAL)
internal("saved_model.signature_constants.DEFAULT_TRAIN_SIGNATURE_DEF_KEY")(DEFAULT_TRAIN_SIGNATURE_DEF_KEY)
internal("saved_model.signature_constants.DEFAULT_EVAL_SIGNATURE_DEF_KEY")(DEFAULT_EVAL_SIGNATURE_DEF_KEY)
internal("saved_model.signature_constants.SUPERVISED_TRAIN_METHOD_NAME")(SUPERVISED_TRAIN_METHOD_NAME)
internal("saved_model.signature_constants.SUPERVISED_EVAL_METHOD_NAME")(SUPERVISED_EVAL_METHOD_NAME)
