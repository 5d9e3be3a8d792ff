"""tf.contrib.graph_editor: selecting, copying and rewiring parts of a graph."""
