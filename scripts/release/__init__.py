# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make release`: the Verilog of the presets and what goes with it, for who has neither a JVM nor Maven."""
