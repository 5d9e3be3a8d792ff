"""What tf.saved_model.save sees of a program's objects: trackable ones, functions, and the constants that functions captured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from everflow.api import internal
from everflow.eager.functions import ConcreteFunction
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.functions import with_called
from everflow.graph.tensor import Tensor
from everflow.graph.trackable import Trackable, TrackableReference
from everflow.platform.identity import ObjectIdentityDictionary, ObjectIdentitySet
from everflow.saved_model.function_protos import concrete_functions_of
from everflow.saved_model.signature_maps import SignatureMap
from everflow.train.tracking.graph_view import ObjectGraphView

SIGNATURES = "signatures"


@internal("saved_model.save._AugmentedGraphView")
class AugmentedGraphView(ObjectGraphView):
    """A root with what only SavedModels keep: signatures, extra dependencies and functions."""

    def __init__(self, root: Any) -> None:
        super().__init__(root)
        self._signatures: SignatureMap | None = None
        self._functions = ObjectIdentityDictionary()
        # Objects may remember here what they made for this one save.
        self._serialization_cache = ObjectIdentityDictionary()

    def set_signatures(self, signatures: SignatureMap) -> None:
        """Hangs the signatures on the root, in the place of those it was loaded with."""
        for name, dependency in super().list_dependencies(self.root):
            if name == SIGNATURES and not isinstance(dependency, SignatureMap):
                raise ValueError(
                    f"Exporting an object {self.root} which has an attribute named '{SIGNATURES}'. This is a reserved attribute used to "
                    "store SavedModel signatures in objects which come from `tf.saved_model.load`. Delete this attribute (e.g. 'del "
                    f"obj.{SIGNATURES}') before saving if this shadowing is acceptable."
                )
        self._signatures = signatures

    def list_dependencies(self, obj: Any) -> list[Any]:
        """The dependencies of an object, with those that it has for SavedModels only."""
        # Looking at attributes for functions can make objects: that has to be over.
        self.list_functions(obj)
        extra = obj._list_extra_dependencies_for_serialization(self._serialization_cache)
        found = []
        for reference in super().list_dependencies(obj):
            if reference.name in extra and extra[reference.name] is not reference.ref:
                raise ValueError(
                    f"Error when exporting object {obj} of with identifier={obj._object_identifier}. The object has an attribute named "
                    f"{reference.name}, which is reserved. List of all reserved attributes: {list(extra)}"
                )
            if reference.name not in extra and not (reference.name == SIGNATURES and obj is self.root):
                found.append(reference)
        found += [TrackableReference(name, dependency) for name, dependency in extra.items()]
        if obj is self.root and self._signatures is not None:
            found.append(TrackableReference(SIGNATURES, self._signatures))
        return found

    def list_functions(self, obj: Any) -> dict[str, Any]:
        """{attribute: function}."""
        if obj not in self._functions:
            self._functions[obj] = obj._list_functions_for_serialization(self._serialization_cache)
        return self._functions[obj]


class CapturedConstant:
    """A value that functions captured."""

    def __init__(self, tensor: Tensor, value: Any) -> None:
        self.tensor, self.value = tensor, value
        self.operation = ""


class SaveableView:
    """All nodes of a SavedModel's object graph, numbered."""

    def __init__(self, view: AugmentedGraphView) -> None:
        self.view = view
        objects, self.node_ids, self.slots = view.objects_ids_and_slot_variables()
        self.trackables = list(objects)
        self.nodes: list[Any] = list(objects)
        self.concretes: list[ConcreteFunction] = []
        seen = ObjectIdentitySet()
        for obj in self.trackables:
            for function in view.list_functions(obj).values():
                if function in self.node_ids:
                    continue
                self._number(function)
                for concrete in concrete_functions_of(function):
                    if concrete not in seen:
                        seen.add(concrete)
                        self.concretes.append(concrete)
        self._check_saveable()

    def _number(self, node: Any) -> None:
        self.node_ids[node] = len(self.nodes)
        self.nodes.append(node)

    @property
    def root(self) -> Any:
        """Where everything hangs."""
        return self.view.root

    def _check_saveable(self) -> None:
        for body in bodies_of(self.concretes):
            if body.saving_errors:
                raise ValueError(
                    f"Tried to export a function which references untracked object {body.name}: " + "\n".join(sorted(body.saving_errors))
                )

    def constants(self, mapped: Any) -> Iterator[CapturedConstant]:
        """The captured tensors that no object stands for (those are `mapped`), numbered as they are found."""
        for concrete in self.concretes:
            for capture in concrete.captured_inputs:
                if capture in mapped or capture in self.node_ids or capture.dtype in (dtypes.resource, dtypes.variant):
                    continue
                value = capture.numpy() if capture.is_eager else known(capture)
                if value is None:
                    raise ValueError(
                        f"Attempted to save a function {concrete.function_name!r} which references a symbolic Tensor {capture} that is "
                        "not a simple constant. This is not supported."
                    )
                constant = CapturedConstant(capture, value)
                self._number(constant)
                self.node_ids[capture] = self.node_ids[constant]
                yield constant

    def children(self, node: Any) -> list[tuple[str, int]]:
        """(name, number) of what hangs on a node."""
        if not isinstance(node, Trackable):
            return []
        found = [(name, self.node_ids[dependency]) for name, dependency in self.view.list_dependencies(node)]
        return found + [(name, self.node_ids[function]) for name, function in self.view.list_functions(node).items()]


def library_of(concretes: list[ConcreteFunction]) -> dict[str, Any]:
    """{name: function of a library}: these functions and all that they call."""
    return with_called(concrete._entry for concrete in concretes)


def bodies_of(concretes: list[ConcreteFunction]) -> list[Any]:
    """The bodies of these functions and of all that they call."""
    return [entry.graph for entry in library_of(concretes).values()]
