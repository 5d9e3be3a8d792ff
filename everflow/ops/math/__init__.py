"""Numbers: arithmetic, comparisons, reductions, segments, special functions, Fourier transforms (`tf.math`)."""
