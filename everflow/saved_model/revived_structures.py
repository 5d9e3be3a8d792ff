"""Lists and dictionaries of trackable objects, under the names by which SavedModels know them."""

from __future__ import annotations

import sys
from typing import Any

from everflow.keras.optimizers.base import OptimizerV2
from everflow.saved_model.revived_types import VersionedTypeRegistration, register_revived_type
from everflow.train.tracking.data_structures import ListWrapper, _DictWrapper


def _set_list_item(target: Any, index: str, value: Any) -> None:
    target.extend([None] * (int(index) + 1 - len(target)))
    target[int(index)] = value


def _set_dict_item(target: Any, key: str, value: Any) -> None:
    target[key] = value


def _register(identifier: str, kind: type, make: Any, setter: Any) -> None:
    register_revived_type(
        identifier,
        lambda obj: isinstance(obj, kind),
        [
            VersionedTypeRegistration(
                object_factory=lambda proto: make(), version=1, min_producer_version=1, min_consumer_version=1, setter=setter
            )
        ],
    )


class _NoTuple:
    """Tuples are not wrapped here: nothing is saved as one."""


_register("trackable_list_wrapper", ListWrapper, lambda: ListWrapper([]), _set_list_item)
_register("trackable_dict_wrapper", _DictWrapper, lambda: _DictWrapper({}), _set_dict_item)
# What later versions write for tuples is read as a list.
_register("trackable_tuple_wrapper", _NoTuple, lambda: ListWrapper([]), _set_list_item)


# -- optimizers of Keras


def _is_optimizer(obj: Any) -> bool:
    # Only where Keras is in use can an object be one of its optimizers.
    keras = sys.modules.get("everflow.keras.optimizers.base")
    return keras is not None and isinstance(obj, keras.OptimizerV2)


def _new_optimizer(proto: Any) -> Any:
    class RestoredOptimizer(OptimizerV2):
        """The state of an optimizer; how it changes variables is in the functions that were saved with it."""

        def get_config(self) -> dict[str, Any]:
            raise NotImplementedError(
                "Restoring functional Optimzers from SavedModels is not currently supported. Please file a feature request if this "
                "limitation bothers you."
            )

    return RestoredOptimizer("RestoredOptimizer")


def _set_optimizer_item(optimizer: Any, name: str, value: Any) -> None:
    if name == "iter":
        optimizer.__dict__["_iterations"] = value
    else:
        optimizer._hyper[name] = value
    optimizer.__dict__["_hypers_created"] = True
    optimizer._track_trackable(value, name, overwrite=True)


register_revived_type(
    "optimizer",
    _is_optimizer,
    [
        VersionedTypeRegistration(
            object_factory=_new_optimizer, version=1, min_producer_version=1, min_consumer_version=1, setter=_set_optimizer_item
        )
    ],
)
