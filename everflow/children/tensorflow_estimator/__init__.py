"""Another name that TensorFlow installs; see its neighbour."""

import tensorflow  # noqa: F401
