"""`distutils`, as far as programs that install nothing use it. (setuptools brings a whole one.)"""

import sys

__version__ = sys.version.split()[0]
