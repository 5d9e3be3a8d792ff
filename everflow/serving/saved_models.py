"""SavedModels, and the exports of TensorFlow's first year, as servables."""

from __future__ import annotations

import functools
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import everflow as tf
from everflow import errors  # type: ignore[no-redef]
from everflow.contrib.session_bundle.loading import load_session_bundle_or_saved_model_bundle_from_path, maybe_session_bundle_dir
from everflow.errors import invalid_argument, not_found
from everflow.graph import dtypes
from everflow.ops.core.registry import meaning
from everflow.runtime.plan import schedule
from everflow.runtime.runner import fetch_converter
from everflow.saved_model.loader import maybe_saved_model_directory
from everflow.serving import inference, monitoring
from everflow.serving.inference import Run
from everflow.serving.servables import Loader, Servable
from everflow.values import tensors as values

log = logging.getLogger("everflow.serving")

# Requests may name any outputs; so many ways of running a model are kept.
_KEPT = 256
# Ops that read or write files or run Python. A model may use them as its author wired them; a request for a run of its own may not.
_FORBIDDEN = ("Save", "Restore", "MergeV2Checkpoints", "ReadFile", "WriteFile", "MatchingFiles", "PyFunc", "EagerPyFunc", "Reader",
              "Dataset", "Iterator", "Summary", "InitializeTableFromTextFile", "PrintV2", "LookupTableImport")  # fmt: skip


class Prepared:
    """One way of running a graph, planned once: feeds in, fetches out."""

    def __init__(
        self, session: Any, feeds: tuple[str, ...], fetches: tuple[str, ...], targets: tuple[str, ...] = (), any_shape: bool = False
    ) -> None:
        graph = session.graph
        self._session = session
        self.fed = [_tensor(graph, name) for name in feeds]
        fetched = [_tensor(graph, name) for name in fetches]
        operations = [graph.get_operation_by_name(name) for name in targets]
        with session._lock, graph._lock:
            session._context.placer.place_graph(graph)
            self.step = session._context.step(fetched, operations, self.fed, any_shape=any_shape)
        self.types = [t.dtype.base_dtype for t in self.fed]
        self.dims = [t.dims for t in self.fed]
        self.fetched_types = [t.dtype.base_dtype.as_datatype_enum for t in fetched]
        self._numpy_types = [None if t is dtypes.string else _plain(np.dtype(t.as_numpy_dtype)) for t in self.types]
        self._outputs = [fetch_converter(t, fresh) for t, fresh in zip(fetched, self.step.fetches_fresh)]
        needed = schedule(fetched, operations, dict.fromkeys(self.fed))  # type: ignore[arg-type]
        self._may_wait = any(kind in _SLOW or getattr(meaning(kind), "waits", False) for kind in _kinds(graph, needed))
        self._quick_runs = 0
        self._largest_quick = 0

    def check(self, arrays: list[np.ndarray]) -> None:
        """Raises where a value has the wrong type."""
        for i, (array, wanted) in enumerate(zip(arrays, self._numpy_types)):
            if array.dtype != (object if wanted is None else wanted):
                given = "string" if array.dtype == object else dtypes.as_dtype(array.dtype).name
                raise invalid_argument(f"Expects arg[{i}] to be {_shown(self.types[i])} but {given} is provided")

    def takes(self, arrays: list[np.ndarray]) -> bool:
        """Whether the values have shapes that the graph declares."""
        for array, dims in zip(arrays, self.dims):
            if dims is not None and dims != array.shape:
                if len(dims) != array.ndim or any(d is not None and d != s for d, s in zip(dims, array.shape)):
                    return False
        return True

    def is_quick(self, arrays: list[np.ndarray]) -> bool:
        """Whether a run is sure to be over at once, as earlier ones of its size were."""
        return self._quick_runs >= _TRUSTED_AFTER and _size(arrays) <= self._largest_quick and self.takes(arrays)

    def _learn(self, seconds: float, arrays: list[np.ndarray]) -> None:
        if seconds < _QUICK:
            self._quick_runs += not self._may_wait
            self._largest_quick = max(self._largest_quick, _size(arrays))
        elif seconds > 4 * _QUICK:
            self._quick_runs = self._largest_quick = 0

    def __call__(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        # The time of this thread: in a pool, waiting for others takes most of a short run's.
        start = time.thread_time()
        found = self._run(arrays)
        self._learn(time.thread_time() - start, arrays)
        return found

    def _run(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        found = self._session._call(self.step, [values.from_numpy(a, t) for a, t in zip(arrays, self.types)])
        return [np.asarray(convert(value)) for convert, value in zip(self._outputs, found)]


# How long such an op takes is not to be told from earlier runs.
_SLOW = {"While", "StatelessWhile", "Enter", "PyFunc", "EagerPyFunc", "PyFuncStateless", "MapDefun"}
# A run that takes less may be done by the thread that answers all requests: handing it to another costs as much.
_QUICK = 0.5e-3
_TRUSTED_AFTER = 8


def _size(arrays: list[np.ndarray]) -> int:
    # Strings count by number and length: what a model does with them depends on both.
    return sum([a.nbytes if a.dtype != object else sum(map(len, a.reshape(-1).tolist())) + 8 * a.size for a in arrays])


def _plain(numpy_type: np.dtype) -> np.dtype:
    return numpy_type[0] if numpy_type.names else numpy_type


def _shown(dtype: Any) -> str:
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def _tensor(graph: Any, name: str) -> Any:
    try:
        return graph.get_tensor_by_name(name if ":" in name else name + ":0")
    except (KeyError, ValueError):
        raise not_found(f"Tensor {name}, specified in either feed_devices or fetch_devices was not found in the Graph") from None


class SavedModelServable(Servable):
    """A session with a model in it, called through plans that are made once for each set of feeds and fetches."""

    def __init__(self, session: Any, meta_graph_def: Any, batcher: Any = None) -> None:
        self.session = session
        self._signatures = dict(meta_graph_def.signature_def)
        self.batcher = batcher
        self._lock = threading.Lock()
        self._plans: dict[Any, Prepared] = {}
        self.call = functools.lru_cache(_KEPT)(functools.partial(inference.Call, self._signatures))

    @property
    def signatures(self) -> Mapping[str, Any]:
        """The SignatureDefs by name."""
        return self._signatures

    def prepared(self, feeds: tuple[str, ...], fetches: tuple[str, ...], any_shape: bool = False) -> Prepared:
        """The plan for these feeds and fetches."""
        key = (feeds, fetches, any_shape)
        found = self._plans.get(key)
        if found is None:
            with self._lock:
                found = self._plans.get(key)
                if found is None:
                    made = Prepared(self.session, feeds, fetches, any_shape=any_shape)
                    while len(self._plans) >= _KEPT:
                        del self._plans[next(iter(self._plans))]
                    found = self._plans[key] = made
        return found

    def is_quick(self, run: Run) -> bool:
        """Whether a run is planned and sure to be over at once."""
        known = self._plans.get((run.feeds, run.fetches, False))
        return known is not None and known.is_quick(run.arrays)

    def run(self, run: Run) -> list[np.ndarray]:
        """Runs at once."""
        prepared = self.prepared(run.feeds, run.fetches)
        prepared.check(run.arrays)
        if not prepared.takes(run.arrays):
            prepared = self.prepared(run.feeds, run.fetches, True)
        return prepared(run.arrays)

    def submit(self, run: Run) -> Any:
        """Runs in a batch with others: a future of the results. None where this server does not batch."""
        return None if self.batcher is None else self.batcher.submit(self, run)

    def answer(self, steps: Any) -> Any:
        """Drives an inference to its end in this thread."""
        return inference.driven(steps, self._ran)

    def _ran(self, run: Run) -> list[np.ndarray]:
        future = self.submit(run)
        return self.run(run) if future is None else future.result()

    def predict(self, request: Any) -> Any:
        """PredictRequest to PredictResponse."""
        return self.answer(inference.predict(self, request))

    def classify(self, request: Any) -> Any:
        """ClassificationRequest to ClassificationResponse."""
        return self.answer(inference.classify(self, request))

    def regress(self, request: Any) -> Any:
        """RegressionRequest to RegressionResponse."""
        return self.answer(inference.regress(self, request))

    def multi_inference(self, request: Any) -> Any:
        """MultiInferenceRequest to MultiInferenceResponse."""
        return self.answer(inference.multi_inference(self, request))

    def session_run(self, request: Any) -> Any:
        """SessionRunRequest to SessionRunResponse."""
        return inference.session_run(self, request)

    def run_named(self, feeds: dict[str, np.ndarray], fetches: list[str], targets: list[str]) -> tuple[list[np.ndarray], list[int]]:
        """What a request for a run of its own asks for: (values, their types). Files and Python are out of its reach."""
        graph = self.session.graph
        tensors = [_tensor(graph, name) for name in (*feeds, *fetches)]
        try:
            operations = [graph.get_operation_by_name(name) for name in targets]
        except (KeyError, ValueError) as e:
            raise not_found(f"Op {e} was not found in the Graph") from None
        needed = schedule(tensors[len(feeds) :], operations, {t: None for t in tensors[: len(feeds)]})  # type: ignore[misc]
        for kind in _kinds(graph, needed):
            if any(word in kind for word in _FORBIDDEN):
                raise errors.PermissionDeniedError(None, None, f"A client may not run {kind}")
        prepared = Prepared(self.session, tuple(feeds), tuple(fetches), tuple(targets), any_shape=True)
        arrays = list(feeds.values())
        prepared.check(arrays)
        return prepared(arrays), prepared.fetched_types

    def close(self) -> None:
        """Closes the session."""
        self.session.close()
        self._plans.clear()
        self.call.cache_clear()


def _kinds(graph: Any, operations: Any) -> Iterator[str]:
    """The types of ops, and of all that the functions which they call are made of."""
    seen: set[str] = set()
    stack = list(operations)
    while stack:
        op = stack.pop()
        yield op.type
        for value in op.attrs.values():
            for item in value if isinstance(value, (list, tuple)) else (value,):
                name = item if isinstance(item, str) else getattr(item, "name", None)
                if isinstance(name, str) and name in graph._functions and name not in seen:
                    seen.add(name)
                    stack.extend(graph._functions[name].graph.get_operations())
        if op.type in graph._functions and op.type not in seen:
            seen.add(op.type)
            stack.extend(graph._functions[op.type].graph.get_operations())


class SavedModelLoader(Loader):
    """Loads a folder that holds a SavedModel or a session bundle into a session of its own."""

    def __init__(
        self,
        path: str,
        tags: tuple[str, ...] = ("serve",),
        config: Any = None,
        batcher: Any = None,
        warm_up: Callable[[SavedModelServable, str], None] | None = None,
        flush: bool = False,
    ) -> None:
        self.path = path
        self._tags = tags
        self._config = config
        self.batcher = batcher
        self._warm_up = warm_up
        self._flush = flush

    def load(self) -> SavedModelServable:
        """The servable, warmed up."""
        start = time.perf_counter()
        try:
            servable = self._loaded()
        except Exception:
            monitoring.loaded(self.path, "fail", time.perf_counter() - start)
            raise
        monitoring.loaded(self.path, "success", time.perf_counter() - start)
        if self._warm_up is not None:
            try:
                self._warm_up(servable, self.path)
            except Exception:
                servable.close()
                raise
        if self._flush:
            drop_from_cache(self.path)
        return servable

    def _loaded(self) -> SavedModelServable:
        if not maybe_saved_model_directory(self.path) and not maybe_session_bundle_dir(self.path):
            raise not_found(
                "Specified file path does not appear to contain a:\n- Session bundle (should have a file called `export.meta`)\n- or, "
                f"SavedModel bundle (should have a file called `saved_model.pb`)\nSpecified file path: {self.path}"
            )
        with tf.Graph().as_default():
            session, meta_graph_def = load_session_bundle_or_saved_model_bundle_from_path(
                self.path, tags=list(self._tags), config=self._config
            )
        complete_types(meta_graph_def, session.graph)
        return SavedModelServable(session, meta_graph_def, self.batcher)


def complete_types(meta_graph_def: Any, graph: Any) -> None:
    """Has signatures say the types and shapes of their tensors where they don't: those of a SessionBundle know only names."""
    for signature in meta_graph_def.signature_def.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            if not info.dtype and info.name:
                tensor = graph.get_tensor_by_name(info.name)
                info.dtype = tensor.dtype.as_datatype_enum
                info.tensor_shape.CopyFrom(tensor.shape.as_proto())


def drop_from_cache(folder: str) -> None:
    """Tells the system that the files of a model are not read again soon; what it keeps of them in memory is free for others."""
    if not hasattr(os, "posix_fadvise"):
        return
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                file = os.open(os.path.join(root, name), os.O_RDONLY)
            except OSError:
                continue
            try:
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(file)
