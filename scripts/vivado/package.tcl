# SPDX-License-Identifier: BSD-2-Clause-Patent
# The core as an IP of Vivado's catalogue, from its Verilog:
#   vivado -mode batch -source scripts/vivado/package.tcl -tclargs DownbeatAxi build/rtl/DownbeatAxi.v build/vivado/ip xcku5p-ffvb676-2-e
# Not run with Vivado yet (docs/how-to/vivado.md).

set here [file dirname [file normalize [info script]]]
source [file join $here interfaces.tcl]
lassign $argv top verilog place part
set home [file join $place $top]
set version 1.0

create_project -force -in_memory -part $part ${top}_package
add_files -norecurse $verilog
if {$top in {DownbeatGmii DownbeatXgmii}} {
    add_files -fileset constrs_1 -norecurse [file join $here .. .. constraints common crossings.xdc]
    # After the clocks of the design that instantiates the core.
    set_property -dict [list SCOPED_TO_REF $top PROCESSING_ORDER LATE] [get_files crossings.xdc]
}
set_property top $top [current_fileset]
ipx::package_project -root_dir $home -vendor downbeat -library network -taxonomy /Communication_&_Networking/Ethernet -import_files -force
set core [ipx::current_core]
set_property -dict [list name $top version $version display_name $top description "TCP offload engine with paced, timestamped departures"] $core
# Interfaces that Vivado inferred from the names.
ipx::remove_all_bus_interface $core

proc has_port {name} {
    expr {[llength [ipx::get_ports -quiet $name -of_objects [ipx::current_core]]] > 0}
}

# An interface of all signals of `signals` that the build has. 1 if it has the interface.
proc add_interface {name kind mode signals} {
    set core [ipx::current_core]
    set found {}
    foreach signal $signals {
        if {[has_port ${name}_[string tolower $signal]]} { lappend found $signal }
    }
    if {[llength $found] == 0} { return 0 }
    set interface [ipx::add_bus_interface $name $core]
    set_property abstraction_type_vlnv xilinx.com:interface:${kind}_rtl:1.0 $interface
    set_property bus_type_vlnv xilinx.com:interface:${kind}:1.0 $interface
    set_property interface_mode $mode $interface
    foreach signal $found {
        ipx::add_port_map $signal $interface
        set_property physical_name ${name}_[string tolower $signal] [ipx::get_port_maps $signal -of_objects $interface]
    }
    return 1
}

# Bytes that the addresses of an interface reach.
proc reach {interface} {
    set port [ipx::get_ports ${interface}_awaddr -of_objects [ipx::current_core]]
    expr {1 << ([get_property size_left $port] + 1)}
}

proc add_parameter {interface name value} {
    set bus [ipx::get_bus_interfaces $interface -of_objects [ipx::current_core]]
    ipx::add_bus_parameter $name $bus
    set_property value $value [ipx::get_bus_parameters $name -of_objects $bus]
}

set interfaces {}
foreach {name mode} $downbeat::streams {
    if {[add_interface $name axis $mode $downbeat::stream_signals]} { lappend interfaces $name }
}
foreach {name mode} $downbeat::mapped {
    if {[add_interface $name aximm $mode $downbeat::mapped_signals]} { lappend interfaces $name }
}

# The address block of the registers, and the address space of the core's master.
ipx::add_memory_map s_axil $core
set_property slave_memory_map_ref s_axil [ipx::get_bus_interfaces s_axil -of_objects $core]
set map [ipx::get_memory_maps s_axil -of_objects $core]
ipx::add_address_block registers $map
set block [ipx::get_address_blocks registers -of_objects $map]
set_property -dict [list range [reach s_axil] width 32 usage register] $block
foreach {name mode} $downbeat::mapped {
    if {$mode ne "master" || $name ni $interfaces} continue
    ipx::add_address_space $name $core
    set_property master_address_space_ref $name [ipx::get_bus_interfaces $name -of_objects $core]
    set_property range [reach $name] [ipx::get_address_spaces $name -of_objects $core]
}

foreach {name mode} $downbeat::resets {
    if {![has_port $name]} continue
    ipx::infer_bus_interface $name xilinx.com:signal:reset_rtl:1.0 $core
    add_parameter $name POLARITY ACTIVE_HIGH
}
foreach name $downbeat::clocks {
    if {[has_port $name]} { ipx::infer_bus_interface $name xilinx.com:signal:clock_rtl:1.0 $core }
}
add_parameter clk ASSOCIATED_BUSIF [join $interfaces :]
add_parameter clk ASSOCIATED_RESET reset:core_reset

ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::check_integrity $core
ipx::save_core $core
close_project
