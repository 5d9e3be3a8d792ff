"""How requests reach servables, whichever protocol they came by: at once where that is quick, else through a pool of threads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from everflow import errors  # type: ignore[no-redef]
from everflow.errors import deadline_exceeded, invalid_argument
from everflow.proto import error_codes_pb2
from everflow.serving import inference, monitoring
from everflow.serving.catalog import Catalog
from everflow.serving.manager import as_status
from everflow.serving.saved_models import SavedModelServable

# Requests and results of more bytes are taken apart and put together in the pool.
LARGE = 1 << 16

# What a servable's methods are called in metrics.
APIS = {
    "predict": "Predict",
    "classify": "Classify",
    "regress": "Regress",
    "multi_inference": "MultiInference",
    "session_run": "SessionRun",
}
STEPS: dict[str, Callable[[Any, Any], inference.Steps]] = {
    "predict": inference.predict,
    "classify": inference.classify,
    "regress": inference.regress,
    "multi_inference": inference.multi_inference,
}
CODES = {value.number: value.name for value in error_codes_pb2.Code.DESCRIPTOR.values}


class Calls:
    """Answers requests for the models of a catalog."""

    def __init__(self, catalog: Catalog, threads: int) -> None:
        self.catalog = catalog
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="inference")
        self.under_way = 0

    async def message(self, method: str, request: Any, entry: str = "GRPC") -> Any:
        """The response message to a request message, for a method of a servable."""
        if method == "multi_inference":
            if not request.tasks or not request.tasks[0].HasField("model_spec"):
                raise invalid_argument("Missing ModelSpec")
            spec = request.tasks[0].model_spec
        elif not request.HasField("model_spec"):
            raise invalid_argument("Missing ModelSpec")
        else:
            spec = request.model_spec
        large = request.ByteSize() > LARGE

        async def answered(servable: Any, version: Any) -> Any:
            if isinstance(servable, SavedModelServable) and method in STEPS:
                steps = STEPS[method](servable, request)
                response = await self.driven(servable, steps, spec.name, APIS[method], large)
            else:
                response = await self.in_pool(getattr(servable, method), request)
            for told in response.results if method == "multi_inference" else (response,):
                told.model_spec.name = spec.name
                told.model_spec.version.value = version.id.version
            return response

        return await self.counted(spec, APIS[method], entry, answered)

    async def counted(self, spec: Any, api: str, entry: str, answer: Callable[[Any, Any], Any]) -> Any:
        """What `answer(servable, version)` gives for the version that a ModelSpec means; its success and its time are counted."""
        start = time.perf_counter()
        status = "OK"
        known = True
        self.under_way += 1
        try:
            try:
                version = self.catalog.acquire(spec)
            except errors.OpError:
                # The names of models that there are not are the client's to choose: they don't become labels.
                known = bool(self.catalog.manager.versions(spec.name)) if spec.name else False
                raise
            try:
                return await answer(version.servable, version)
            finally:
                version.leave()
        except errors.OpError as e:
            status = CODES.get(e.error_code, "UNKNOWN")
            raise
        except asyncio.CancelledError:
            status = "CANCELLED"
            raise
        except Exception as e:
            status = CODES.get(as_status(e).error_code, "UNKNOWN")
            raise
        finally:
            self.under_way -= 1
            if known:
                monitoring.request_count.add(spec.name, status)
                monitoring.request_latency.add((time.perf_counter() - start) * 1e6, spec.name, api, entry)

    async def driven(self, servable: Any, steps: inference.Steps, model: str, api: str, large: bool = False) -> Any:
        """What an inference returns. Its run is done here where that is quick, in a batch where the server makes batches, else in the
        pool; a large request is handled there as a whole."""

        def run(asked: Any) -> Any:
            start = time.perf_counter()
            try:
                return servable.run(asked)
            finally:
                monitoring.runtime_latency.add((time.perf_counter() - start) * 1e6, model, api, "TF1")

        try:
            asked = await self.in_pool(_advanced, steps, None) if large else next(steps)
            while True:
                batched = None if servable.batcher is None else servable.submit(asked)
                if batched is not None:
                    found = await asyncio.wrap_future(batched)
                elif not large and servable.is_quick(asked):
                    found = run(asked)
                else:
                    found = await self.in_pool(run, asked)
                large = sum([array.nbytes for array in found]) > LARGE
                asked = await self.in_pool(_advanced, steps, found) if large else steps.send(found)
        except StopIteration as end:
            return end.value
        except _Ended as end:
            return end.value

    async def in_pool(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function returns, called by a thread of the pool."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, function, *arguments)

    def stop(self) -> None:
        """Lets the threads end once they are idle."""
        self.pool.shutdown(wait=False)


class _Ended(Exception):
    """An inference came to its end in another thread; StopIteration does not pass through futures."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def _advanced(steps: inference.Steps, found: Any) -> Any:
    try:
        return steps.send(found)
    except StopIteration as end:
        raise _Ended(end.value) from None


async def within(seconds: float, answer: Any) -> Any:
    """Awaits an answer for a limited time."""
    if seconds <= 0:
        return await answer
    try:
        return await asyncio.wait_for(answer, seconds)
    except asyncio.TimeoutError:
        raise deadline_exceeded("Timed out waiting for the model to answer") from None
