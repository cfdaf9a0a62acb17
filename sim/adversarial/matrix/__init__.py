# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make matrix`: transfers between the core and other TCPs over bad paths (docs/how-to/adversarial.md)."""
