"""Runs a command with the numerics of a plainer CPU: the results of floating-point sums differ in their last bits.

    python scripts/other_numerics.py python -m pytest tests/test_trails.py

Three libraries choose their routines by the CPU. numpy's own loops: every feature that it would use here is switched
off (asked of numpy, because a name that it does not know is an error). The matrix products of OpenBLAS: those of the
oldest core that it knows, on one thread. The C library's exp, log and pow: without fused multiply-add.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping

import numpy as np

OLDEST_CORE = {"x86_64": "Prescott", "AMD64": "Prescott", "aarch64": "ARMV8", "arm64": "ARMV8"}
PLAIN_LIBM = "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4"
"""Another C library ignores this, and glibc what it does not know."""


def plainer(environment: Mapping[str, str]) -> dict[str, str]:
    changed = {**environment, "OPENBLAS_NUM_THREADS": "1", "GLIBC_TUNABLES": PLAIN_LIBM}
    if core := OLDEST_CORE.get(platform.machine()):
        changed["OPENBLAS_CORETYPE"] = core
    if features := np.show_config(mode="dicts")["SIMD Extensions"].get("found"):
        changed["NPY_DISABLE_CPU_FEATURES"] = " ".join(features)
    return changed


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} COMMAND [ARGUMENT ...]")
    try:
        os.execvpe(sys.argv[1], sys.argv[1:], plainer(os.environ))  # noqa: S606 - no shell is meant
    except OSError as error:
        sys.exit(f"{sys.argv[1]}: {error.strerror}")


if __name__ == "__main__":
    main()
