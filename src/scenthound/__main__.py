"""`python -m scenthound`."""

from __future__ import annotations

from scenthound.cli import main

if __name__ == "__main__":
    main()
