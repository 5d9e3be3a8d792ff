"""TensorFlow 1.15, as Everflow has it. `everflow alias install` puts a copy of this file where Python finds `tensorflow`."""

import everflow.as_tensorflow  # noqa: F401
