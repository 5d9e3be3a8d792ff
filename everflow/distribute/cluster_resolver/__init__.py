"""tf.distribute.cluster_resolver: which tasks a cluster has, as the system that started them tells."""
