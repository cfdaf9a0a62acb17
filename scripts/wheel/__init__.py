# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The Python package as a wheel: what pip calls for `pip install` of this tree."""
