"""tf.profiler: what a model's ops cost, by name scope, graph, kind of op or line of Python.

`model.py` holds what is known of each op (from the graph, an op log and the RunMetadata of steps), `views.py` arranges it as trees,
`report.py` and `files.py` write them, `analyzer.py` is what programs call.
"""
