"""`pipes`: of which programs use `quote`."""

from shlex import quote as quote
