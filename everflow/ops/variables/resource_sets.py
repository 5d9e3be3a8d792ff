"""Resources that a graph initializes as it does variables, such as tables: their collections."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import everflow as tf
from everflow.api import internal
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import add_to_collection, device, get_collection, name_scope


class Resource(NamedTuple):
    """A resource's handle, the op that creates it, and the tensor that says whether it has been created."""

    handle: Any
    create: Any
    is_initialized: Any


@internal("ops.resources.register_resource")
def register_resource(handle: Any, create_op: Any, is_initialized_op: Any, is_shared: bool = True) -> None:
    """Adds a resource to those that programs initialize: of the cluster, or of this process alone."""
    key = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    add_to_collection(key, Resource(handle, create_op, is_initialized_op))


@internal("ops.resources.shared_resources")
def shared_resources() -> list[Any]:
    """The resources that a cluster shares."""
    return get_collection(GraphKeys.RESOURCES)


@internal("ops.resources.local_resources")
def local_resources() -> list[Any]:
    """The resources of this process alone."""
    return get_collection(GraphKeys.LOCAL_RESOURCES)


@internal("ops.resources.initialize_resources")
def initialize_resources(resource_list: Any, name: str = "init") -> Any:
    """An op that creates the given resources."""
    if not resource_list:
        return tf.no_op(name=name)
    return tf.group(*[resource.create for resource in resource_list], name=name)


@internal("ops.resources.report_uninitialized_resources")
def report_uninitialized_resources(resource_list: Any = None, name: str = "report_uninitialized_resources") -> Any:
    """A tensor with the names of the resources that have not been created yet."""
    if resource_list is None:
        resource_list = shared_resources() + local_resources()
    with name_scope(name), device(os.environ.get("TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")):
        if not resource_list:
            return tf.constant([], dtype=tf.string)
        missing = tf.logical_not(tf.stack([resource.is_initialized for resource in resource_list]))
        return tf.boolean_mask(tf.constant([resource.handle.name for resource in resource_list]), missing)
