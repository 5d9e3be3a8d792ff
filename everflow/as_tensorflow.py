"""`import everflow.as_tensorflow` makes `import tensorflow` find Everflow, in this process and those that it starts."""
from everflow import alias, old_numpy

alias.install()
old_numpy.restore()
