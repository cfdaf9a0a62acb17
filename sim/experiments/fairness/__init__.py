# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make experiment NAME=fairness`: what each of 64 busy flows of one core gets (docs/how-to/adversarial.md)."""
