# SPDX-License-Identifier: BSD-2-Clause-Patent
# Stands in for Vivado in test_vivado.py: tclsh stubs.tcl NAMES SCRIPT [ARGUMENT...]. NAMES is a Tcl dictionary: `ports` of the design (a vector's
# highest index or {}), `cells` of its netlist, `pins`. Vivado's commands that the scripts use do nothing, but what is asked for must be
# there; any other command is Tcl's own or an error. Ends with a list of what was constrained or connected, a line each.

set names [dict create ports {} cells {} pins {}]
set channel [open [lindex $argv 0]]
set names [dict merge $names [read $channel]]
close $channel
set made {} ;# interfaces, cells and ports that the script itself made
set done {} ;# what it did to them

proc matching {kind words} {
    set pattern *
    set quiet [expr {"-quiet" in $words}]
    if {[set at [lsearch $words -filter]] >= 0} {
        if {![regexp {^NAME =~ (\S+)$} [lindex $words $at+1] -> pattern]} { error "filter that the stubs do not know: $words" }
    } else {
        set pattern [lindex $words end]
    }
    set from [expr {$kind eq "ports" ? [dict keys [dict get $::names ports]] : [dict get $::names $kind]}]
    set found {}
    foreach one $pattern { lappend found {*}[lsearch -all -inline -glob $from [string map {\[ \\\[ \] \\\]} $one]] }
    if {[llength $found] == 0 && !$quiet} { error "no $kind match $pattern" }
    return $found
}

# ---- designs and constraints

foreach command {create_project close_project update_ip_catalog add_files make_wrapper validate_bd_design save_bd_design assign_bd_address} {
    proc $command args {}
}
foreach command {launch_runs wait_on_run open_run report_timing_summary report_utilization report_cdc} { proc $command args {} }
proc set_property args {
    if {[lindex $args 0] eq "physical_name"} {
        matching ports [list [lindex $args 1]]
        lappend ::done "map [lindex $args 1]"
    }
    if {[lindex $args end] eq ""} { error "set_property of nothing: $args" }
    if {[lindex $args 0] eq "-dict" && [regexp {PACKAGE_PIN (\S+)} [lindex $args 1] -> pin]} { lappend ::done "pin $pin [lindex $args end]" }
}
proc get_property {name objects} {
    if {$name eq "size_left"} { return [dict get $::names ports [lindex $objects 0]] }
    error "property that the stubs do not know: $name"
}
foreach command {current_project current_fileset current_design} { proc $command args [list return $command] }
proc get_files name { return $name }
proc get_ports args { matching ports $args }
proc get_cells args { matching cells $args }
proc get_pins args { matching pins $args }
proc get_clocks args { return [lindex $args end] }
proc create_clock args { lappend ::done "clock [lindex $args end]" }
proc set_input_delay args {}
proc set_max_delay args {
    if {[lindex $args 0] ne "-datapath_only" || ![string is double -strict [lindex $args end]]} { error "set_max_delay $args" }
    foreach cell [dict get [lrange $args 1 end-1] -to] { lappend ::done "bound $cell" }
}
proc set_false_path args { foreach object [dict get $args [lindex $args 0]] { lappend ::done "free $object" } }

# ---- packaging

namespace eval ipx {
    foreach command {package_project remove_all_bus_interface create_xgui_files update_checksums check_integrity save_core} {
        proc $command args {}
    }
    proc current_core {} { return core }
    proc get_ports args { matching ports [lsearch -all -inline -not [lrange $args 0 [expr {[llength $args] - 3}]] ""] }
    proc add_bus_interface {name core} { lappend ::made $name; return $name }
    proc infer_bus_interface {port type core} {
        matching ports [list $port]
        lappend ::made $port
        lappend ::done "map $port"
    }
    foreach command {add_port_map add_bus_parameter add_memory_map add_address_block add_address_space} {
        proc $command {name of} { lappend ::made $name }
    }
    foreach command {get_bus_interfaces get_port_maps get_bus_parameters get_memory_maps get_address_blocks get_address_spaces} {
        proc $command {name -of_objects of} {
            if {$name ni $::made} { error "$name was not made" }
            return $name
        }
    }
}

# ---- block designs: what is connected must have been made, and the core's pins are its ports

foreach command {create_bd_design} { proc $command args {} }
foreach command {create_bd_port create_bd_intf_port create_bd_cell} {
    proc $command args { lappend ::made [lindex $args end] }
}
proc bd_object name {
    lassign [split $name /] cell pin
    if {$cell ni $::made} { error "$cell was not made" }
    if {$cell eq "core" && $pin ne "" && $pin ne "s_axil"} { matching ports [list $pin] }
    return $name
}
foreach command {get_bd_ports get_bd_intf_ports get_bd_cells get_bd_pins get_bd_intf_pins} { proc $command name {bd_object $name} }
foreach command {connect_bd_net connect_bd_intf_net} { proc $command {from to} { lappend ::done "net $from $to" } }

set argv [lassign $argv - script]
source $script
puts [join $done \n]
