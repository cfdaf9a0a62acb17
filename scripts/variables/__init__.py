# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Values that make's variables may have. `python -m scripts.variables TARGET...` refuses a wrong one in one line.

This runs before set-up and before anything is built, so it uses nothing but Python's own library.
"""
