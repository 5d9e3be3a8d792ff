"""The features of Python that modules of tf.contrib import from `__future__`, which programs find in those modules."""

from __future__ import annotations
import __future__ as features

from everflow.api import public

# Relative to tf.contrib; modules whose names TensorFlow itself hides from programs are not among them.
MODULES = (
    "autograph", "compiler", "compiler.jit", "compiler.xla", "graph_editor.edit", "graph_editor.select", "graph_editor.subgraph",
    "graph_editor.transform", "graph_editor.util", "keras.api", "labeled_tensor", "reduce_slice_ops", "slim", "solvers", "staging",
    "summary", "tensor_forest", "tensor_forest.client", "tensor_forest.client.eval_metrics", "tensor_forest.client.random_forest",
    "tensorboard", "tensorboard.plugins", "tensorboard.plugins.projector", "testing", "tfprof.model_analyzer", "tfprof.tfprof_logger",
    "util.loader",
)  # fmt: skip

for _feature in ("absolute_import", "division", "print_function"):
    public(*(f"contrib.{module}.{_feature}" for module in MODULES))(getattr(features, _feature))
