"""`import everflow.as_tensorflow` makes `import tensorflow` find Everflow, in this process and those that it starts."""

from everflow import alias, years

alias.install()
years.install()
