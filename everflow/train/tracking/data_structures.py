"""Lists and mappings of trackable objects: those that a user makes, and those that stand for plain lists and dicts."""

from __future__ import annotations

import collections.abc
import copy
from typing import Any

from everflow.api import internal, public
from everflow.graph.trackable import Trackable, TrackableReference
from everflow.ops.variables.variables import Variable


@public("contrib.checkpoint.NoDependency")
@internal("training.tracking.data_structures.NoDependency")
class NoDependency:
    """Keeps a value that is assigned to an attribute from becoming a dependency."""

    def __init__(self, value: Any) -> None:
        self.value = value


@internal("training.tracking.data_structures._UntrackableError")
class _UntrackableError(ValueError):
    """A value that no checkpoint can hold was put where only trackable ones may be."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __str__(self) -> str:
        return (
            "Only trackable objects (such as Layers or Optimizers) may be stored in a List object. Got "
            f"{self._value}, which does not inherit from Trackable."
        )


@internal("training.tracking.data_structures._wrap_or_unwrap")
def wrap_or_unwrap(value: Any) -> Any:
    """Plain lists and dicts get wrappers that track what they hold; NoDependency gives its value back."""
    if isinstance(value, NoDependency):
        return value.value
    if isinstance(value, Trackable):
        return value
    # Subclasses have behaviour of their own that a wrapper would hide; ordered dicts behave like dicts.
    if type(value) is dict or type(value) is collections.OrderedDict:
        return _DictWrapper(value)
    if type(value) is list:
        return ListWrapper(value)
    return value


@internal("training.tracking.data_structures.sticky_attribute_assignment")
def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """Adds a dependency where the value is trackable; returns what the attribute shall hold."""
    add_dependency = not isinstance(value, NoDependency)
    value = wrap_or_unwrap(value)
    if add_dependency and isinstance(value, Trackable):
        trackable._track_trackable(value, name=name, overwrite=True)
    return value


@internal("training.tracking.data_structures._is_function")
def is_function(value: Any) -> bool:
    """Whether a value is a tf.function or one of its concrete functions."""
    return getattr(value, "_everflow_function", False) is True


@internal("training.tracking.data_structures.TrackableDataStructure")
class TrackableDataStructure(Trackable):
    """What lists and mappings have in common: the layers and variables that they hold."""

    def __init__(self) -> None:
        self._self_trainable = True
        self._self_extra_variables: list[Any] = []

    @property
    def _values(self) -> Any:
        raise NotImplementedError("Abstract method")

    @property
    def trainable(self) -> bool:
        """Whether the trainable variables of the layers in here count as such."""
        return self._self_trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._self_trainable = value

    def _track_value(self, value: Any, name: str) -> Any:
        """Adds a dependency on a value; returns it, wrapped where it is a plain list or dict."""
        held = sticky_attribute_assignment(self, name, value)
        if not isinstance(held, Trackable):
            raise _UntrackableError(held)
        if isinstance(held, Variable):
            self._self_extra_variables.append(held)
        # Layers that a data structure tracks save their variables by object, which resource variables are for.
        elif hasattr(held, "_use_resource_variables"):
            held._use_resource_variables = True
        return held

    @property
    def _layers(self) -> list[Any]:
        return [v for v in self._values if _holds_layers(v)]

    @property
    def layers(self) -> list[Any]:
        """The layers in here and in the structures in here."""
        found: list[Any] = []
        for value in self._layers:
            for layer in value.layers if isinstance(value, TrackableDataStructure) else [value]:
                # Templates have weights, and are no layers.
                if hasattr(type(layer), "losses") and not any(layer is other for other in found):
                    found.append(layer)
        return found

    @property
    def trainable_weights(self) -> list[Any]:
        """What training changes."""
        if not self._self_trainable:
            return []
        return _unique(
            [v for layer in self._layers for v in layer.trainable_weights] + [v for v in self._self_extra_variables if v.trainable]
        )

    @property
    def non_trainable_weights(self) -> list[Any]:
        """What training leaves alone."""
        trainable = [v for v in self._self_extra_variables if v.trainable]
        rest = [v for layer in self._layers for v in layer.non_trainable_weights]
        rest += [v for v in self._self_extra_variables if not v.trainable]
        if self._self_trainable:
            return _unique(rest)
        return _unique([v for layer in self._layers for v in layer.trainable_weights] + trainable + rest)

    @property
    def weights(self) -> list[Any]:
        """All variables."""
        return _unique(self.trainable_weights + self.non_trainable_weights)

    @property
    def trainable_variables(self) -> list[Any]:
        """What training changes."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """What training leaves alone."""
        return self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        """All variables."""
        return self.weights

    @property
    def updates(self) -> list[Any]:
        """The update ops of the layers in here."""
        return [u for layer in self.layers if hasattr(layer, "updates") for u in layer.updates]

    @property
    def losses(self) -> list[Any]:
        """The losses of the layers in here."""
        return [loss for layer in self.layers if hasattr(layer, "losses") for loss in layer.losses]

    @property
    def metrics(self) -> list[Any]:
        """The metrics of the layers in here."""
        return [metric for layer in self.layers if hasattr(layer, "metrics") for metric in layer.metrics]

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def _unique(values: list[Any]) -> list[Any]:
    return list({id(v): v for v in values}.values())


def _holds_layers(value: Any) -> bool:
    return (
        isinstance(value, TrackableDataStructure)
        or getattr(value, "_is_layer", False)
        or (hasattr(value, "trainable_weights") and hasattr(value, "non_trainable_weights"))
    )


@public("contrib.checkpoint.List")
@internal("training.tracking.data_structures.List")
class List(TrackableDataStructure, collections.abc.Sequence):
    """A list of trackable objects that only grows: element i is the dependency "i"."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._storage = self._make_storage(*args, **kwargs)
        self._storage[:] = [self._track_value(held, self._name_element(at)) for at, held in enumerate(self._storage)]

    def _make_storage(self, *args: Any, **kwargs: Any) -> list[Any]:
        return list(*args, **kwargs)

    def _name_element(self, index: int) -> str:
        return str(index)

    @property
    def _values(self) -> Any:
        return self

    def copy(self) -> Any:
        """A list with the same elements."""
        return type(self)(copy.copy(self._storage))

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)(copy.deepcopy(self._storage, memo))

    def append(self, value: Any) -> None:
        """Adds an element."""
        self._storage.append(self._track_value(value, self._name_element(len(self._storage))))

    def extend(self, values: Any) -> None:
        """Adds elements."""
        for value in values:
            self.append(value)

    def __iadd__(self, values: Any) -> Any:
        self.extend(values)
        return self

    def __add__(self, other: Any) -> Any:
        return type(self)(self._storage + (other._storage if isinstance(other, List) else other))

    def __radd__(self, other: Any) -> Any:
        return type(self)(other) + self

    def __imul__(self, y: Any) -> Any:
        if y <= 0:
            raise ValueError(f"List only supports append, multiplying in place by {y} removes elements.")
        count = len(self._storage)
        for _ in range(y - 1):
            for i in range(count):
                self.append(self._storage[i])
        return self

    def __mul__(self, n: Any) -> Any:
        return type(self)(self._storage * n)

    __rmul__ = __mul__

    def __getitem__(self, key: Any) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __repr__(self) -> str:
        return f"List({self._storage!r})"

    def __sizeof__(self) -> int:
        return super().__sizeof__() + self._storage.__sizeof__()


_MAY_BE_LEFT_OUT = (
    "\n\nIf you don't need this {kind} checkpointed, wrap it in a tf.contrib.checkpoint.NoDependency object; it will be "
    "automatically un-wrapped and subsequently ignored."
)


# Before `list` among the bases: its methods change elements through those below, not the empty list that the wrapper itself is.
_MutableSequence: Any = collections.abc.MutableSequence


@internal("training.tracking.data_structures.ListWrapper")
class ListWrapper(List, _MutableSequence, list):
    """Stands for a plain list in an attribute and tracks its elements, as long as the list only grows."""

    def __init__(self, wrapped_list: list[Any]) -> None:
        # An element that was replaced could not be restored when it is made: saving such a list is an error.
        self._non_append_mutation = False
        self._external_modification = False
        super().__init__(wrapped_list)
        self._last_wrapped_list_snapshot = list(self._storage)

    def _make_storage(self, wrapped_list: list[Any]) -> list[Any]:  # type: ignore[override]
        return wrapped_list

    def __copy__(self) -> Any:
        return self._as_copied(copy.copy(self._storage))

    def __deepcopy__(self, memo: Any) -> Any:
        return self._as_copied(copy.deepcopy(self._storage, memo))

    def _as_copied(self, storage: list[Any]) -> Any:
        copied = type(self)(storage)
        copied._non_append_mutation = self._non_append_mutation
        copied._external_modification = self._external_modification
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self._storage,)

    def _check_external_modification(self) -> None:
        """Notices elements that were put into the list behind the wrapper's back."""
        if self._external_modification or self._non_append_mutation:
            return
        if not _same(self._storage, self._last_wrapped_list_snapshot):
            self._external_modification = True

    def _update_snapshot(self) -> None:
        if not (self._external_modification or self._non_append_mutation):
            self._last_wrapped_list_snapshot = list(self._storage)

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        self._check_external_modification()
        shown = f"Unable to save the object {self!r} (a list wrapper constructed to track trackable TensorFlow objects). "
        if self._non_append_mutation:
            raise ValueError(
                shown + "A list element was replaced (__setitem__, __setslice__), deleted (__delitem__, __delslice__), or moved (sort). "
                "In order to support restoration on object creation, tracking is exclusively for append-only data structures."
                + _MAY_BE_LEFT_OUT.format(kind="list")
            )
        if self._external_modification:
            raise ValueError(
                shown + f"The wrapped list was modified outside the wrapper (its final value was {self._storage}, its value when a "
                f"checkpoint dependency was added was {self._last_wrapped_list_snapshot}), which breaks restoration on object creation."
                + _MAY_BE_LEFT_OUT.format(kind="list")
            )
        return super()._checkpoint_dependencies

    def _track_value(self, value: Any, name: str) -> Any:
        """As List does, but values that can't be tracked are kept as they are."""
        try:
            return super()._track_value(value=value, name=name)
        except ValueError:
            return sticky_attribute_assignment(trackable=self, value=value, name=name)

    def _mutated(self) -> None:
        self._non_append_mutation = True

    def __delitem__(self, key: Any) -> None:
        self._mutated()
        del self._storage[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_external_modification()
        if isinstance(key, slice):
            if (
                any(isinstance(v, Trackable) for v in self._storage[key])
                or not isinstance(value, ListWrapper)
                and any(isinstance(wrap_or_unwrap(v), Trackable) for v in value)
            ):
                self._mutated()
            self._storage[key] = [wrap_or_unwrap(v) for v in value]
        else:
            if isinstance(self._storage[key], Trackable):
                self._mutated()
            self._storage[key] = self._track_value(value, self._name_element(key))
        self._update_snapshot()

    def append(self, value: Any) -> None:
        """Adds an element."""
        self._check_external_modification()
        super().append(value)
        self._update_snapshot()

    def extend(self, values: Any) -> None:
        """Adds elements."""
        self._check_external_modification()
        super().extend(values)
        self._update_snapshot()

    def __imul__(self, y: Any) -> Any:
        if y <= 0:
            self._mutated()
            self._storage *= y
            return self
        return super().__imul__(y)

    def insert(self, index: Any, obj: Any) -> None:
        """Puts an element at a place: what comes after moves, so the list can't be saved any more."""
        self._mutated()
        self._storage.insert(index, obj)

    def sort(self, *args: Any, **kwargs: Any) -> None:
        """Sorts the list, after which it can't be saved."""
        self._mutated()
        self._storage.sort(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return self._storage == getattr(other, "_storage", other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        return self._storage < getattr(other, "_storage", other)

    def __le__(self, other: Any) -> bool:
        return self._storage <= getattr(other, "_storage", other)

    def __gt__(self, other: Any) -> bool:
        return self._storage > getattr(other, "_storage", other)

    def __ge__(self, other: Any) -> bool:
        return self._storage >= getattr(other, "_storage", other)

    def __hash__(self) -> int:  # type: ignore[override]
        raise TypeError("unhashable type: 'ListWrapper'")

    def __repr__(self) -> str:
        return f"ListWrapper({self._storage!r})"

    def _list_functions_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        return {str(i): value for i, value in enumerate(self) if is_function(value)}


def _same(a: Any, b: Any) -> bool:
    """Whether two lists hold the very same objects: comparing elements could run code of the user."""
    return len(a) == len(b) and all(x is y or (not isinstance(x, Trackable) and type(x) is type(y) and _equal(x, y)) for x, y in zip(a, b))


def _equal(x: Any, y: Any) -> bool:
    try:
        return bool(x == y)
    except Exception:
        return False


@public("contrib.checkpoint.Mapping")
@internal("training.tracking.data_structures.Mapping")
class Mapping(TrackableDataStructure, collections.abc.Mapping):
    """A mapping from strings to trackable objects to which keys can be added, not changed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._storage = self._make_storage(*args, **kwargs)
        for key, held in list(self._storage.items()):
            self._storage[key] = self._track_value(held, self._name_element(key))

    def _make_storage(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def _name_element(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        return str(key)

    @property
    def _values(self) -> Any:
        return self._storage.values()

    def __copy__(self) -> Any:
        return type(self)(copy.copy(self._storage))

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)(copy.deepcopy(self._storage, memo))

    def __setitem__(self, key: Any, value: Any) -> None:
        name = self._name_element(key)
        value = self._track_value(value, name=name)
        current = self._storage.setdefault(key, value)
        if current is not value:
            raise ValueError(
                f"Mappings are an append-only data structure. Tried to overwrite the key '{key}' with value {value}, but it "
                f"already contains {current}"
            )

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds keys."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __getitem__(self, key: Any) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Any:
        return iter(self._storage)

    def __repr__(self) -> str:
        return f"Mapping({self._storage!r})"


@internal("training.tracking.data_structures._DictWrapper")
class _DictWrapper(TrackableDataStructure):
    """Stands for a plain dict in an attribute and tracks its values; what is done to the one is done to the other."""

    def __init__(self, wrapped_dict: Any = None) -> None:
        super().__init__()
        self.__wrapped__ = wrapped_dict if isinstance(wrapped_dict, dict) else dict(wrapped_dict or {})
        self._self_non_string_key = False
        self._self_external_modification = False
        self._self_last_wrapped_dict_snapshot: Any = None
        self.__wrapped__.update(
            {key: self._track_value(value, name=self._name_element(key), key=key) for key, value in self.__wrapped__.items()}
        )
        self._update_snapshot()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(wrapper, dict) holds, as programs expect of their dicts
        return type(self.__wrapped__)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_self_") or name == "__wrapped__":
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _DictWrapper, (self.__wrapped__,)

    def copy(self) -> Any:
        """A dict with the same values."""
        return copy.copy(self)

    def __copy__(self) -> Any:
        return self._as_copied(copy.copy(self.__wrapped__))

    def __deepcopy__(self, memo: Any) -> Any:
        return self._as_copied(copy.deepcopy(self.__wrapped__, memo))

    def _as_copied(self, wrapped: Any) -> Any:
        copied = _DictWrapper(wrapped)
        copied._self_external_modification = self._self_external_modification
        copied._self_non_string_key = self._self_non_string_key
        return copied

    @property
    def _values(self) -> Any:
        return [self.__wrapped__[key] for key in sorted(self.__wrapped__, key=str)]

    @property
    def _dirty(self) -> bool:
        return self._self_external_modification or self._self_non_string_key

    def _check_self_external_modification(self) -> None:
        """Notices values that were put into the dict behind the wrapper's back."""
        if self._dirty:
            return
        before = self._self_last_wrapped_dict_snapshot
        if list(self.__wrapped__) != list(before) or not _same(list(self.__wrapped__.values()), list(before.values())):
            self._self_external_modification = True
            self._self_last_wrapped_dict_snapshot = None

    def _update_snapshot(self) -> None:
        if not self._dirty:
            self._self_last_wrapped_dict_snapshot = dict(self.__wrapped__)

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        self._check_self_external_modification()
        shown = f"Unable to save the object {self.__wrapped__!r} (a dictionary wrapper constructed automatically on attribute assignment). "
        if self._self_non_string_key:
            raise ValueError(
                shown
                + "The wrapped dictionary contains a non-string key which maps to a trackable object or mutable data structure."
                + _MAY_BE_LEFT_OUT.format(kind="dictionary")
            )
        if self._self_external_modification:
            raise ValueError(
                shown + f"The wrapped dictionary was modified outside the wrapper (its final value was {self.__wrapped__!r}, its value "
                f"when a checkpoint dependency was added was {self._self_last_wrapped_dict_snapshot!r}), which breaks restoration on "
                "object creation." + _MAY_BE_LEFT_OUT.format(kind="dictionary")
            )
        return super()._checkpoint_dependencies

    def _name_element(self, key: Any) -> str:
        return str(key)

    def _track_value(self, value: Any, name: str, key: Any = None) -> Any:
        key = name if key is None else key
        if not isinstance(key, str):
            is_left_out = isinstance(value, NoDependency)
            value = wrap_or_unwrap(value)
            if isinstance(value, Trackable) and not is_left_out:
                self._self_non_string_key = True
            return value
        try:
            return super()._track_value(value=value, name=name)
        except ValueError:
            return sticky_attribute_assignment(trackable=self, value=value, name=name)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_self_external_modification()
        self.__wrapped__[key] = self._track_value(value, name=self._name_element(key), key=key)
        self._update_snapshot()

    def __delitem__(self, key: Any) -> None:
        from everflow.train.tracking.autotracking import delete_tracking

        self._check_self_external_modification()
        del self.__wrapped__[key]
        if isinstance(key, str):
            self._maybe_initialize_trackable()
            delete_tracking(self, self._name_element(key))
        self._update_snapshot()

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Sets keys."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value of a key, set where it is not there yet."""
        if key not in self.__wrapped__:
            self[key] = default
        return self.__wrapped__[key]

    def __getitem__(self, key: Any) -> Any:
        return self.__wrapped__[key]

    def __contains__(self, key: Any) -> bool:
        return key in self.__wrapped__

    def __iter__(self) -> Any:
        return iter(self.__wrapped__)

    def __len__(self) -> int:
        return len(self.__wrapped__)

    def __repr__(self) -> str:
        return f"DictWrapper({self.__wrapped__!r})"

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'DictWrapper'")

    def __eq__(self, other: object) -> bool:
        return self.__wrapped__ == getattr(other, "__wrapped__", other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def _list_functions_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        return {key: value for key, value in self.__wrapped__.items() if is_function(value)}
