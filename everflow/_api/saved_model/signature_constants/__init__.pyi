"""Written by `make index`."""
from typing import Any

from everflow.saved_model.constants import CLASSIFY_INPUTS as CLASSIFY_INPUTS
from everflow.saved_model.constants import CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME
from everflow.saved_model.constants import CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES
from everflow.saved_model.constants import CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES
from everflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.saved_model.constants import PREDICT_INPUTS as PREDICT_INPUTS
from everflow.saved_model.constants import PREDICT_METHOD_NAME as PREDICT_METHOD_NAME
from everflow.saved_model.constants import PREDICT_OUTPUTS as PREDICT_OUTPUTS
from everflow.saved_model.constants import REGRESS_INPUTS as REGRESS_INPUTS
from everflow.saved_model.constants import REGRESS_METHOD_NAME as REGRESS_METHOD_NAME
from everflow.saved_model.constants import REGRESS_OUTPUTS as REGRESS_OUTPUTS
