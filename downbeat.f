// SPDX-License-Identifier: BSD-2-Clause-Patent
// The core's Verilog, made by `make rtl`, and what Verilator need not say of it, for tools that take file lists.
scripts/lint/waivers.vlt
build/rtl/Downbeat.v
