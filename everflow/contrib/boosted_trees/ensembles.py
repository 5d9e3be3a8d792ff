"""Ensembles of gradient boosting as parts of a graph: made by its initializers, saved by its checkpoints."""

from __future__ import annotations

import functools
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import add_to_collection, name_scope
from everflow.ops.core.registry import apply
from everflow.ops.variables.resource_sets import register_resource
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec
from everflow.train.tracking.autotracking import TrackableResource

BELOW = "contrib.boosted_trees.python.ops.model_ops."


@public(BELOW + "TreeEnsembleVariableSavable")
class TreeEnsembleVariableSavable(SaveableObject):
    """The stamp and the trees in a checkpoint."""

    def __init__(self, tree_ensemble_handle: Any, create_op: Any, name: str) -> None:
        stamp, config = apply("TreeEnsembleSerialize", tree_ensemble_handle)
        super().__init__(tree_ensemble_handle, [SaveSpec(stamp, "", name + "_stamp"), SaveSpec(config, "", name + "_config")], name)
        self._tree_ensemble_handle, self._create_op = tree_ensemble_handle, create_op

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        del restored_shapes
        with tf.control_dependencies([self._create_op]):
            return apply("TreeEnsembleDeserialize", self._tree_ensemble_handle, *restored_tensors)


@public(BELOW + "TreeEnsembleVariable")
class TreeEnsembleVariable(TrackableResource):
    """An ensemble by a handle."""

    def __init__(self, stamp_token: Any, tree_ensemble_config: Any, name: str, container: str | None = None) -> None:
        self._stamp_token, self._tree_ensemble_config = stamp_token, tree_ensemble_config
        self._name, self._container, self._init_op = name, container, None
        super().__init__()
        self._resource_handle = self._create_resource()

    def _create_resource(self) -> Any:
        return apply("DecisionTreeEnsembleResourceHandleOp", container=self._container or "", shared_name=self._name, name=self._name)

    def _initialize(self) -> Any:
        return apply("CreateTreeEnsembleVariable", self.resource_handle, self._stamp_token, self._tree_ensemble_config)

    @property
    def initializer(self) -> Any:
        """The op that makes the ensemble."""
        if self._init_op is None:
            self._init_op = self._initialize()
        return self._init_op

    def is_initialized(self) -> Any:
        """Whether the ensemble was made."""
        return apply("TreeEnsembleIsInitializedOp", self.resource_handle)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        made = functools.partial(TreeEnsembleVariableSavable, tree_ensemble_handle=self.resource_handle, create_op=self.initializer)
        return {self.resource_handle.op.name + "/tree_ensemble_variable": made}


@public(BELOW + "tree_ensemble_variable")
def tree_ensemble_variable(stamp_token: Any, tree_ensemble_config: Any, name: str, container: str | None = None) -> Any:
    """The handle of an ensemble that initializers make and checkpoints hold."""
    with name_scope(name, "TreeEnsembleVariable") as scope:
        variable = TreeEnsembleVariable(stamp_token, tree_ensemble_config, scope, container)
        handle, create_op = variable.resource_handle, variable.initializer
        is_made = variable.is_initialized()
        add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, TreeEnsembleVariableSavable(handle, create_op, handle.name))
        register_resource(handle, create_op, is_made)
        return handle
