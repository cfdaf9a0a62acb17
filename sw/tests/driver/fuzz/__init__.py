# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Random socket calls of one program over the core, the same over the kernel as the oracle."""
