// The core's Verilog, made by `make rtl`. For Verilator, Vivado (read_verilog) and other tools that take file lists.
build/rtl/Downbeat.v
