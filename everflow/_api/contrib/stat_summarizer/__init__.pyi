"""Written by `make index`."""
from typing import Any

from everflow.contrib.stat_summarizer import DeleteStatSummarizer as DeleteStatSummarizer
from everflow.contrib.stat_summarizer import NewStatSummarizer as NewStatSummarizer
from everflow.contrib.stat_summarizer import StatSummarizer as StatSummarizer
