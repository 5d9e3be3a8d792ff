"""Lists and dictionaries of trackable objects, under the names by which SavedModels know them."""
from __future__ import annotations

from typing import Any

from everflow.saved_model.revived_types import VersionedTypeRegistration, register_revived_type
from everflow.train.tracking.data_structures import ListWrapper, _DictWrapper


def _set_list_item(target: Any, index: str, value: Any) -> None:
    target.extend([None] * (int(index) + 1 - len(target)))
    target[int(index)] = value


def _set_dict_item(target: Any, key: str, value: Any) -> None:
    target[key] = value


def _register(identifier: str, kind: type, make: Any, setter: Any) -> None:
    register_revived_type(
        identifier, lambda obj: isinstance(obj, kind),
        [VersionedTypeRegistration(object_factory=lambda proto: make(), version=1, min_producer_version=1, min_consumer_version=1,
                                   setter=setter)])


class _NoTuple:
    """Tuples are not wrapped here: nothing is saved as one."""


_register("trackable_list_wrapper", ListWrapper, lambda: ListWrapper([]), _set_list_item)
_register("trackable_dict_wrapper", _DictWrapper, lambda: _DictWrapper({}), _set_dict_item)
# What later versions write for tuples is read as a list.
_register("trackable_tuple_wrapper", _NoTuple, lambda: ListWrapper([]), _set_list_item)
