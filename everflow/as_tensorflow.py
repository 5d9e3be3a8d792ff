"""`import everflow.as_tensorflow` makes `import tensorflow` find Everflow, in this process and those that it starts."""

import sys

from everflow import alias, late_torch, lazy, years

alias.install()
alias.tell_processes()
years.install()
# A TensorFlow program has no use for some of it, and short programs spend most of their time with imports.
if "torch" not in sys.modules:
    lazy.link_ahead()
    sys.meta_path.insert(0, late_torch.Late())
