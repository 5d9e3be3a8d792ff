"""TensorFlow's debugger: what a run computed, dumped tensor by tensor, and the sessions and hooks that ask for it."""
