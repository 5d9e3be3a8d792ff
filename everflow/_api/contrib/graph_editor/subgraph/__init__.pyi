"""Written by `make index`."""
from typing import Any

StringIO: Any
from everflow.contrib.graph_editor.views import SubGraphView as SubGraphView
absolute_import: Any
division: Any
from everflow.contrib.borrowed_names import iteritems as iteritems
from everflow.contrib.graph_editor.views import make_view as make_view
from everflow.contrib.graph_editor.views import make_view_from_scope as make_view_from_scope
print_function: Any
