"""What a model function is called for."""

from __future__ import annotations

from everflow.api import internal, public


@public("estimator.ModeKeys")
@internal("estimator.model_fn.ModeKeys", "estimator.mode_keys.ModeKeys")
class ModeKeys:
    """Training, evaluation or prediction."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


# How a graph for each mode is named in a SavedModel.
EXPORT_TAGS = internal("estimator.export.export_lib.EXPORT_TAG_MAP")(
    {ModeKeys.PREDICT: ["serve"], ModeKeys.TRAIN: ["train"], ModeKeys.EVAL: ["eval"]}
)
