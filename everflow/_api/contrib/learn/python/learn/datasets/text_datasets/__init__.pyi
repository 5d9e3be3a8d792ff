"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.datasets import DBPEDIA_URL as DBPEDIA_URL
from everflow.contrib.learn.datasets import load_dbpedia as load_dbpedia
from everflow.contrib.learn.datasets import maybe_download_dbpedia as maybe_download_dbpedia
