"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.session_bundle import bundle_shim as bundle_shim
from everflow._api.contrib.session_bundle import constants as constants
from everflow._api.contrib.session_bundle import exporter as exporter
from everflow._api.contrib.session_bundle import gc as gc
from everflow._api.contrib.session_bundle import session_bundle as session_bundle
