"""Written by `make index`."""
from typing import Any

from everflow.contrib.session_bundle.versions import Path as Path
from everflow.contrib.session_bundle.versions import get_paths as get_paths
from everflow.contrib.session_bundle.versions import largest_export_versions as largest_export_versions
from everflow.contrib.session_bundle.versions import mod_export_version as mod_export_version
from everflow.contrib.session_bundle.versions import negation as negation
from everflow.contrib.session_bundle.versions import one_of_every_n_export_versions as one_of_every_n_export_versions
from everflow.contrib.session_bundle.versions import union as union
