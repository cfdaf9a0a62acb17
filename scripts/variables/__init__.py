# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What make's variables may be. `python -m scripts.variables TARGET...` refuses a wrong one in one line.

This runs before set-up and before anything is built, so it uses nothing but Python's own library.
"""
