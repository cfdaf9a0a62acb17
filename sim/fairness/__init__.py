# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make fairness`: what each of 64 busy flows of one core gets (docs/matrix.md)."""
