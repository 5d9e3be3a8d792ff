"""Errors."""


class DistutilsError(Exception):
    """Of all here."""


class DistutilsFileError(DistutilsError):
    """Of files and folders."""
