# SPDX-License-Identifier: BSD-2-Clause-Patent
"""BBR: the draft in floats, and the integer unit."""
