# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Golden models: Python integers, bit-exact with the RTL, in the folders of the files that they model."""
