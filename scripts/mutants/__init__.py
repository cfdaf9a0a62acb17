# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`make mutants`: small mistakes planted into the generated Verilog, each of which a test should notice."""
