"""Pictures: files, sizes, colours, boxes (`tf.image`)."""
