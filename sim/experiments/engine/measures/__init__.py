# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Results to numbers: metrics of a run, their means over runs, and the published values beside them."""
