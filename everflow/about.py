"""What this package is: Everflow's own version (`tf.__version__` is the TensorFlow version whose API it has)."""

version = "0.1.0"
