"""Written by `make index`."""
from typing import Any

from everflow.platform.resource_loader import get_data_files_path as get_data_files_path
from everflow.platform.resource_loader import get_path_to_datafile as get_path_to_datafile
from everflow.platform.resource_loader import get_root_dir_with_all_resources as get_root_dir_with_all_resources
from everflow.platform.resource_loader import load_resource as load_resource
from everflow.platform.resource_loader import readahead_file_path as readahead_file_path
