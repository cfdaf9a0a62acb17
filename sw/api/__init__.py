# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The list of what C and Python share, and its generator of headers and ctypes."""
