"""The contract suites and tiny webs for authors of plug-ins; they are at home in `scenthound.lab.testing`."""

from scenthound.lab.testing import *  # noqa: F403
from scenthound.lab.testing import __all__ as __all__
