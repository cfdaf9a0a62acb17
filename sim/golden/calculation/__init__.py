# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The units for long calculations, bit for bit, in Python integers."""
