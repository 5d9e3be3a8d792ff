"""tf.signal: frames of signals, their spectra, and what is heard of them."""
