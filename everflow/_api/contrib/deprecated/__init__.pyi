"""Written by `make index`."""
from typing import Any

from everflow.contrib.deprecated import audio_summary as audio_summary
from everflow.summary.functions import histogram_summary as histogram_summary
from everflow.contrib.deprecated import image_summary as image_summary
from everflow.contrib.deprecated import merge_all_summaries as merge_all_summaries
from everflow.summary.functions import merge_summary as merge_summary
from everflow.summary.functions import scalar_summary as scalar_summary
