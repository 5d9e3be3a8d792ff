"""tf.contrib.kernel_methods: maps into spaces where linear models are those of a kernel."""
