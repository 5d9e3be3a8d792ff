"""What a user writes to serve something of their own: a Servable answers, a Loader makes it, a Source asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from everflow.errors import unimplemented

# What a source calls: the name of a servable, and for each version that is wanted its loader.
Target = Callable[[str, Mapping[int, "Loader"]], None]


class Servable:
    """Answers requests. Methods take and return the messages of `tensorflow_serving.apis`; what is not overridden is refused.

    Methods are called from several threads at once. What they raise of `tf.errors` reaches the client as its status code.
    """

    def predict(self, request: Any) -> Any:
        """PredictRequest to PredictResponse; the server fills in the model_spec's name and version."""
        raise unimplemented(f"{type(self).__name__} does not predict")

    def classify(self, request: Any) -> Any:
        """ClassificationRequest to ClassificationResponse."""
        raise unimplemented(f"{type(self).__name__} does not classify")

    def regress(self, request: Any) -> Any:
        """RegressionRequest to RegressionResponse."""
        raise unimplemented(f"{type(self).__name__} does not regress")

    def multi_inference(self, request: Any) -> Any:
        """MultiInferenceRequest to MultiInferenceResponse."""
        raise unimplemented(f"{type(self).__name__} does no multi-inference")

    def session_run(self, request: Any) -> Any:
        """SessionRunRequest to SessionRunResponse."""
        raise unimplemented(f"{type(self).__name__} has no session")

    @property
    def signatures(self) -> Mapping[str, Any]:
        """The SignatureDefs by name, for metadata and for JSON requests."""
        return {}

    def close(self) -> None:
        """Lets go of what it holds; no request is under way any more."""


class Loader:
    """Makes the servable of one version. `load` may be tried again after it failed."""

    def load(self) -> Servable:
        """The servable, ready for requests."""
        raise NotImplementedError("load")


class Source:
    """Says which versions are wanted, whenever that changes, by calling the target that it is connected to."""

    def connect(self, target: Target) -> None:
        """Takes the target and begins."""
        raise NotImplementedError("connect")

    def stop(self) -> None:
        """Calls the target no more."""
