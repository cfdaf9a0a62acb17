# SPDX-License-Identifier: BSD-2-Clause-Patent
# The front door: every target sets up what it needs; `make help` lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

PRESET ?= default
# What a recipe's program may read from the command line: make test SEED=3.
export TEST CASE SEED WAVES JOBS
export FRAMES CONNECTIONS PART PCAP FLOW SINCE UNTIL
export ROLE REORDER DUP CORRUPT CELLS PEER
export SCRIPT SEEDS TABLE FIGURE FASTDROP EVENTS POLICY AREA STARTUP_ARGUMENT STEADY_ARGUMENT
# A policy from outside the tree (docs/adding-a-policy.md).
override POLICY_PATH := $(if $(POLICY_PATH),$(abspath $(POLICY_PATH)))
export POLICY_PATH
export FILE SIZE RATE RTT BUFFER LOSS SSTHRESH INITIAL_WINDOW STARTUP STEADY TAP COMPARE WALL_LIMIT DURATION RUNS DROP CONGESTION APP

# source: tools on PATH (scripts/env.sh); then the command.
IN_ENV := source scripts/env.sh &&
PY := $(IN_ENV) python
SET_UP := $(or $(DOWNBEAT_VENV),build/venv)/downbeat.stamp
RTL := build/rtl/$(PRESET).stamp
SIM_RTL := build/sim/rtl.stamp
SIM64_RTL := build/sim/rtl-sim64.stamp
SIM65536_RTL := build/sim/rtl-sim65536.stamp
# One policy needs its own module alone, all of them together the core as well.
POLICIES_RTL := $(if $(POLICY),build/rtl/policies.stamp,$(RTL) $(SIM_RTL))
PACER_RTL := $(foreach flows,16 1024 65536,build/sim/rtl-pacer-$(flows).stamp)
NETLIST_RTL := build/netlist/rtl.stamp

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(SET_UP) ## Python environment and system packages; the other targets call it
	@:

rtl: $(RTL) ## SpinalHDL to Verilog: build/rtl/MODULE.v for each module [PRESET=name]
	@:

registers: $(RTL) ## take the generated register page and C header over into docs and sw/include
	@install -D -m 644 build/rtl/downbeat_registers.md docs/register_map.md
	@install -D -m 644 build/rtl/downbeat_registers.h sw/include/downbeat_registers.h

sim: $(SIM_RTL) ## a file from the core over ns-3 [FILE SIZE RATE RTT BUFFER LOSS SSTHRESH STARTUP STEADY *_ARGUMENT SEED TAP=header WAVES=1 PCAP=file]
	@$(PY) -m downbeat.sim

interop: $(SIM_RTL) ## the core on a TAP and Linux: files, web, iperf3, nmap; root [APP SIZE DROP CONGESTION SEED WAVES=1 PCAP=file]
	@$(PY) -m downbeat.interop

matrix: $(SIM_RTL) ## files over bad paths; ns-3 or Linux [PEER ROLE LOSS REORDER DUP CORRUPT SEED CELLS=n JOBS=n WAVES=1 PCAP=file]
	@$(PY) -m sim.matrix

fairness: $(SIM64_RTL) ## 64 flows of one core at once: what each gets [SEED=n]
	@$(PY) -m sim.fairness

carson: $(SIM_RTL) ## Carson and Reno on the thesis's dumbbell: ratios of its tables [SEEDS=n TABLE=6.1,6.3,6.5 FASTDROP=1 JOBS=n]
	@$(PY) -m sim.carson

cubic-compare: $(SIM_RTL) ## the core's CUBIC and ns-3's TcpCubic on the same paths [SEED=n]
	@$(PY) -m sim.cubic

trace: $(SET_UP) ## a line for each event of the last make sim [RECORD=file.csv FLOW=n SINCE=ns UNTIL=ns]
	@$(PY) -m downbeat trace $(RECORD)

gap-capture: $(SET_UP) ## a capture against its schedule: errors of gaps [CAPTURE=x.pcapng SCHEDULE=s.csv INTERFACE=name FLOW=name]
	@$(PY) -m downbeat gap capture $(CAPTURE) $(if $(SCHEDULE),--schedule $(SCHEDULE)) $(if $(INTERFACE),--interface $(INTERFACE))

gap-selftest: $(SET_UP) ## what `downbeat gap live` and `downbeat replay` themselves get wrong on this machine; root
	@$(PY) -m downbeat gap selftest

waves: ## show what make sim WAVES=1 wrote, in GTKWave or Surfer [FST=another file]
	@scripts/waves.sh

bench: $(SIM_RTL) ## how fast the core alone simulates, by both taps [DURATION=seconds TAP=frame or header]
	@$(PY) -m sim.bench

packetdrill: $(SIM_RTL) ## packet traces against the core in virtual time [SCRIPT=name SEED=n PCAP=file WAVES=1]
	@$(PY) -m sim.packetdrill

wire: $(SIM_RTL) ## line rate through MAC and parser, and the launch gate against its model [SEED=n]
	@$(PY) -m sim.wire

gap: $(SIM_RTL) ## departures, pairs and rates at the MAC's pins, against their schedules [SEED=n JOBS=n]
	@$(PY) -m sim.gap

latency: $(SIM_RTL) ## SFD to application byte, application byte to SFD, ACK to data, through core and MAC, by load and flows [SEED=n JOBS=n]
	@$(PY) -m sim.latency

linearity: $(SIM_RTL) ## sent gap against received gap over ns-3, our MAC at both ends [SEED=n DURATION=seconds JOBS=n]
	@$(PY) -m sim.linearity

logistic: $(SET_UP) ## the logistic window against the exact equation, a million questions [SEED=n JOBS=n]
	@$(PY) -m sim.logistic.accuracy

logistic-figures: $(SIM65536_RTL) ## the logistic window over ns-3 beside HighSpeed and Scalable [SEED=n DURATION=seconds COMPARE=0 FIGURE=convergence,10,12,13,15]
	@$(PY) -m sim.logistic

spm: $(SIM_RTL) ## start-up by packet pairs beside constant-rate traffic over ns-3: SPM's rate, Hoe's beside it [SEED=n RUNS=n JOBS=n]
	@$(PY) -m sim.spm

ssipp: $(SIM_RTL) ## inverted pairs against receivers that delay ACKs, ns-3's and Linux's (root)
	@$(PY) -m sim.ssipp

fuzz: $(SIM_RTL) ## mutated frames for the core, live transfers beside them [SEED FRAMES WAVES=1]
	@$(PY) -m sim.fuzz

churn: $(SIM_RTL) ## connections opened and closed in every order, a SYN flood, blind attacks [PART SEED CONNECTIONS FRAMES]
	@$(PY) -m sim.churn

scale: $(SIM65536_RTL) ## 65,536 connections at once, opened, used and closed; 16 MiB in flight [SEED=n]
	@$(PY) -m sim.scale

policies: $(POLICIES_RTL) ## congestion policies against their golden models [POLICY=name EVENTS=n SEED=n AREA=1 POLICY_PATH=dir]
	@$(PY) -m sim.policies

new-policy: $(SET_UP) ## the pieces of a new policy, which passes its test at once [NAME=name KIND=startup or steady, POLICY_PATH=dir]
	@$(PY) -m scripts.new_policy "$(NAME)" "$(KIND)"

pacing: $(PACER_RTL) ## the pacer alone: order among 16 to 65,536 flows, rates for ten seconds [SEED=n]
	@$(PY) -m sim.pacing

events: $(RTL) ## the engine alone at its ports: events a clock by order of flows and by policies [SEED=n JOBS=n]
	@$(PY) -m sim.events

formal: $(RTL) ## proofs of the exact sums of time base and pacer, and mutants that they must refuse
	@$(PY) -m formal

lint: $(RTL) ## formats, types, Verilator and Yosys on the Verilog, licence tags
	@$(PY) -m scripts.check scripts/lint

test: $(RTL) $(SIM_RTL) $(PACER_RTL) ## all tests and lint [TEST=module CASE=name SEED=n WAVES=1 JOBS=n]
	@$(PY) -m scripts.check

fmax: build/policies/stamp ## clock rate on an ECP5 and the path that limits it [MODULE=name GRADE=6|7|8|8_5G SEED=n PRESET=name]
	@$(PY) -m scripts.fmax $(or $(MODULE),FlowEngine) --preset $(PRESET) --grade $(or $(GRADE),6) --seed $(or $(SEED),1)

fmax-estimate: build/policies/stamp ## a module's longest paths by its netlist alone, in grade 8's ns [MODULE=name PRESET=name]
	@$(PY) -m scripts.fmax.estimate $(or $(MODULE),FlowEngine) --preset $(PRESET)

fmax-guard: build/policies/stamp ## fails when a guarded module's clock rate fell (scripts/fmax/guarded.toml) [JOBS=n]
	@$(PY) -m scripts.fmax.guard

synth: build/policies/stamp ## LUTs, registers, block RAM, multipliers of each module, state a flow [TARGET=ecp5 or xcup, FLOWS=n PRESET=name MODULE=name]
	@$(PY) -m scripts.synth $(MODULE) --target $(or $(TARGET),ecp5) $(if $(FLOWS),--flows $(FLOWS)) --preset $(PRESET)

bitstream: build/scala.stamp ## a board's .bit by Yosys, nextpnr-ecp5 and ecppack; fails when a clock misses [BOARD=colorlight-i9 SEED=n]
	@$(PY) -m scripts.bitstream $(or $(BOARD),colorlight-i9) $(if $(SEED),--seed $(SEED))

program: $(SET_UP) ## load a board with what make bitstream made, by openFPGALoader [BOARD=colorlight-i9]
	@$(PY) -m scripts.bitstream $(or $(BOARD),colorlight-i9) --program

netlist: $(NETLIST_RTL) ## the core of TCP's board as Yosys maps it to an ECP5 passes the system test, in Verilator [CASE=name SEED=n WAVES=1]
	@$(PY) -m scripts.netlist

clean: ## remove all that was made, but the Python environment
	@find build -mindepth 1 -maxdepth 1 ! -name 'venv*' -exec rm -rf {} + 2>/dev/null || true

$(SET_UP): requirements.txt $(wildcard scripts/*.sh)
	@scripts/setup.sh

# Directories count as sources, so that a removed file is noticed.
build/scala.stamp: pom.xml $(shell find rtl -mindepth 1 -type d -o -name '*.scala') | $(SET_UP)
	@scripts/rtl.sh compile
	@touch $@

# One directory holds one preset's Verilog: the other presets' stamps are void.
# Policies from outside the tree: all Verilog is made again when they change, or when POLICY_PATH does.
build/policies/stamp: build/scala.stamp FORCE
	@scripts/rtl.sh policies

$(RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate $(PRESET)
	@rm -f build/rtl/*.stamp && touch $@

build/rtl/policies.stamp: build/scala.stamp build/policies/stamp FORCE
	@scripts/rtl.sh elaborate default build/rtl "Policy$(shell sed 's/^./\U&/' <<<'$(POLICY)')"

# The simulation has a preset of its own, so a directory of its own.
$(SIM_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate sim build/sim/rtl Downbeat DownbeatGmii HeaderTap WireBench GapBench
	@touch $@

$(SIM64_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate sim64 build/sim/rtl-sim64 Downbeat
	@touch $@

$(SIM65536_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate sim65536 build/sim/rtl-sim65536 HeaderTap
	@touch $@

$(NETLIST_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate board build/netlist/rtl Downbeat
	@touch $@

$(PACER_RTL): build/sim/rtl-pacer-%.stamp: build/scala.stamp
	@scripts/rtl.sh elaborate default,flows=$* build/sim/rtl-pacer-$* Pacer
	@touch $@

.PHONY: FORCE policies new-policy help setup rtl registers sim interop matrix fairness carson cubic-compare trace gap-capture gap-selftest waves bench fuzz churn packetdrill wire pacing events scale gap latency linearity logistic logistic-figures spm ssipp fmax fmax-estimate fmax-guard synth netlist bitstream program formal lint test clean
