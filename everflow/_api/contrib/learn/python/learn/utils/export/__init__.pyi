"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.bundles import default_input_fn as __default_input_fn
_default_input_fn = __default_input_fn
from everflow.contrib.learn.bundles import export_bundle as __export_estimator
_export_estimator = __export_estimator
from everflow.contrib.learn.bundles import classification_signature_fn as classification_signature_fn
from everflow.contrib.learn.bundles import classification_signature_fn_with_prob as classification_signature_fn_with_prob
from everflow.contrib.learn.bundles import export_estimator as export_estimator
from everflow.contrib.learn.bundles import generic_signature_fn as generic_signature_fn
from everflow.contrib.learn.bundles import logistic_regression_signature_fn as logistic_regression_signature_fn
from everflow.contrib.learn.bundles import regression_signature_fn as regression_signature_fn
