# SPDX-License-Identifier: BSD-2-Clause-Patent
# The front door: every target sets up what it needs; `make help` lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

PRESET ?= default
, := ,
semicolon := ;
# A build's name in a file's: a semicolon, of the list of policies, would end a rule and a command, and a goal with an
# equals sign would set a variable.
in_file_names = $(subst $(semicolon),+,$(1))
BUILD := $(subst =,-,$(call in_file_names,$(PRESET)))
# Variables of the command line that a program of a recipe reads: make test SEED=3.
export TEST CASE SEED WAVES JOBS
export NAME N MODULE FRAMES CONNECTIONS PART PCAP
export ROLE REORDER DUP CORRUPT CELLS PEER BEAT_BYTES
export SCRIPT SO FULL VARY EVENTS POLICY AREA STARTUP_ARGUMENT STEADY_ARGUMENT
# A policy from outside the tree (docs/tutorials/first-policy.md).
override POLICY_PATH := $(if $(POLICY_PATH),$(abspath $(POLICY_PATH)))
export POLICY_PATH
export FILE SIZE RATE RTT BUFFER LOSS SSTHRESH INITIAL_WINDOW STARTUP STEADY TAP COMPARE WALL_LIMIT DURATION RUNS DROP CONGESTION APP

# A switch that is 0 is off, for every program and for $(if ...).
$(foreach switch,WAVES AREA ESTIMATE GUARD PROGRAM FULL VARY SO,$(eval override $(switch) := $(filter-out 0,$($(switch)))))

# source: tools on PATH (scripts/env.sh); then the command.
IN_ENV := source scripts/env.sh &&
PY := $(IN_ENV) python
# A part of the Python packages is all that a simulation needs.
SET_UP := $(or $(DOWNBEAT_VENV),build/venv)/$(if $(filter-out sim waves litex,$(or $(TARGETS),$(MAKECMDGOALS),help)),downbeat,simulation).stamp
# Packages of the system are all that Scala needs; all tests together, lint and mutants need more of them.
SYSTEM := build/$(if $(TEST),core,$(if $(filter test soak lint mutants,$(MAKECMDGOALS) $(TARGETS)),test,core)).stamp
RTL := build/rtl/$(BUILD).stamp
SIM_RTL := build/sim/rtl.stamp
# The first report needs one of its modules.
FIRST_RTL := build/sim/rtl-first.stamp
SIM65536_RTL := build/sim/rtl-sim65536.stamp
NS2_RTL := build/sim/rtl-ns2.stamp
# One policy needs its own module alone, all of them together the core as well.
POLICIES_RTL := $(if $(POLICY),build/rtl/policies.stamp,$(RTL) $(SIM_RTL))
# The simulated NIC has flows for a server; with PRESET it is another build, and has that name.
NIC_PRESET := $(if $(filter-out file,$(origin PRESET)),$(PRESET))
HOST_BUILD := nic$(if $(NIC_PRESET),-$(call in_file_names,$(NIC_PRESET)))
HOST_RTL := build/sim/rtl-$(HOST_BUILD).stamp
HOST_TESTS_RTL := build/sim/rtl-hosttests.stamp
PACER_RTL := $(foreach flows,16 1024 65536,build/sim/rtl-pacer-$(flows).stamp)
TEN_RTL := build/sim/rtl-ten.stamp
WIDE_RTL := $(foreach bytes,16 32 64,build/sim/rtl-wide$(bytes).stamp)
# A width that is none of these is refused before anything is built.
AT_WIDTH := $(if $(filter 16 32 64,$(BEAT_BYTES)),build/sim/rtl-wide$(BEAT_BYTES).stamp,$(SIM_RTL))
LITEX_RTL := build/sim/rtl-litex.stamp
LITEX := $(or $(DOWNBEAT_VENV),build/venv)/litex.stamp
NETLIST_RTL := build/netlist/rtl.stamp
# The modules that the tests of TEST run; empty: all modules, and those of the simulation.
# Before GNU Make 4.4 $(shell) does not see what is exported.
QUOTED = '$(subst ','\'',$(TEST))'
CHOSEN := $(if $(and $(TEST),$(filter test soak,$(MAKECMDGOALS))),$(shell PYTHONPATH=. SOAK=$(filter soak,$(MAKECMDGOALS)) python3 -m scripts.check.needs $(QUOTED)))
TEST_RTL := $(if $(CHOSEN),build/rtl/$(BUILD).chosen.stamp,$(RTL) $(SIM_RTL) $(PACER_RTL) $(TEN_RTL) $(HOST_TESTS_RTL))

# A first run makes these side by side: Python's packages and Scala's classes, then each preset's Verilog, and what the
# first start of Yosys compiles. A second make does, where `-j` concerns these alone: the goals of a command line keep
# their order.
SIDES = $(if $(filter sim,$(MAKECMDGOALS)),$(if $(TAP)$(STARTUP)$(STEADY)$(filter test soak,$(MAKECMDGOALS)),$(SIM_RTL),$(FIRST_RTL))) $(if $(filter test soak,$(MAKECMDGOALS)),$(TEST_RTL) $(if $(TEST),,tools))

# Prerequisites of each bench and experiment; NAME is one of these.
BENCH_speed := $(SIM_RTL) $(WIDE_RTL)
BENCH_latency := $(SIM_RTL) $(WIDE_RTL)
BENCH_events := $(RTL)
BENCH_pacing := $(PACER_RTL)
BENCH_scale := $(SIM65536_RTL)
BENCH_wire := $(SIM_RTL)
BENCH_ten := $(TEN_RTL)
BENCH_netlist := $(NETLIST_RTL)
BENCH_logistic := $(SET_UP)
BENCH_churn := $(SIM_RTL)
BENCH_recovery := $(SIM_RTL)
BENCH_upsets := $(RTL)
BENCH_estimator := $(SET_UP)
BENCH_host := $(HOST_TESTS_RTL) driver build/programs.stamp
# A file, or its base, says that it needs the build with ns-2's floor of the retransmission timeout.
NS2_FILE = $(shell cd sim/experiments/papers && grep -lE 'preset"? = "ns2"' */$(NAME).toml \
	$$(sed -n 's|^base = "\(.*\)"|*/\1.toml|p' */$(NAME).toml 2>/dev/null) 2>/dev/null)
FILES_RTL := $(SIM_RTL) $(SIM65536_RTL) $(if $(VARY)$(NS2_FILE),$(NS2_RTL))
EXPERIMENT_gateway := $(SIM_RTL)
EXPERIMENT_linearity := $(SIM_RTL)

help: ## this list
	@awk -F ':.*## ' '/^# ---- / { print "\n" substr($$0, 8) } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(SET_UP) ## Python environment and system packages; the other targets call it
	@:

# ---- simulate

sim: side-by-side ## a file from the core over ns-3 [FILE SIZE RATE RTT BUFFER LOSS SSTHRESH STARTUP STEADY *_ARGUMENT SEED TAP=header WAVES=1 PCAP=file]
	@$(PY) -m sim.ns3

waves: | variables ## show what make sim WAVES=1 wrote, in GTKWave or Surfer [FST=another file]
	@scripts/waves.sh

interop: $(SIM_RTL) ## the core on a TAP and Linux: files, web, iperf3, nmap, a stalled reader; root [APP SIZE DROP CONGESTION SEED WAVES=1 PCAP=file]
	@$(PY) -m sim.linux

litex: $(LITEX_RTL) | $(LITEX) ## a computer of LiteX with the core, simulated: a file from Linux and back; root [SIZE SEED WALL_LIMIT]
	@$(IN_ENV) python -m pytest -q -W ignore::DeprecationWarning sim/litex
	@$(PY) -m sim.litex

gap: $(SIM_RTL) ## departures, pairs and rates at the MAC's pins, compared with their schedules [SEED=n JOBS=n SCHEDULE=file]
	@$(PY) -m sim.bench.gap

bench: $(or $(BENCH_$(NAME)),$(SET_UP)) ## measures the core; without NAME: lists the benches [NAME=name SEED=n JOBS=n]
	@$(PY) -m sim.bench

experiment: $(or $(EXPERIMENT_$(NAME)),$(if $(wildcard sim/experiments/papers/*/$(NAME).toml),$(FILES_RTL)),$(SET_UP)) ## a paper's experiment over ns-3; without NAME: lists them [NAME=name SEED=n RUNS=n JOBS=n FULL=1 VARY=1]
	@$(PY) -m sim.experiments

experiments: $(FILES_RTL) ## the quick set of them; an interrupted one goes on where it was [SEED=n RUNS=n JOBS=n FULL=1 VARY=1]
	@$(IN_ENV) NAME=quick python -m sim.experiments

gateway: $(SET_UP) ## the performance gateway and what only it needs of the system: build/gateway
	@scripts/gateway.sh

estimator: $(SET_UP) ## libdownbeat_estimator, shared and static, in build/estimator: shared path estimates
	@$(IN_ENV) $(MAKE) -s -C sw/estimator

driver: $(HOST_RTL) ## libdownbeat, downbeat-nic and downbeat-run, with a simulated device, in build/driver [PRESET=name]
	@$(IN_ENV) $(MAKE) -s -C sw/driver
	@$(PY) -m sim.lib.build $(HOST_BUILD)
	@install -m 755 build/sim/$(HOST_BUILD)/current/libdownbeat_host_$(HOST_BUILD:nic-%=%).so -t build/driver
	@echo "build/driver: libdownbeat, downbeat-nic, downbeat-run and the simulated device $(HOST_BUILD:nic-%=%). Next:"
	@echo "  sudo scripts/tools/downbeat nic$(if $(NIC_PRESET), --preset '$(HOST_BUILD:nic-%=%)') --tap downbeat0 &    (without root: --loop 10.0.0.2 --device simd:/tmp/nic.sock)"
	@echo "  docs/tutorials/programs-over-the-core.md"

# ---- test

test: side-by-side ## all tests and lint [TEST=module CASE=name SEED=n WAVES=1 JOBS=n]
	@$(PY) -m scripts.check

soak: side-by-side ## the tests with their long draws: hours of random cases [TEST=module CASE=name SEED=n JOBS=n]
	@$(IN_ENV) SOAK=1 python -m scripts.check

lint: $(RTL) ## formats, types, Verilator and Yosys on the Verilog, licence tags
	@$(PY) -m scripts.check scripts/lint

matrix: $(if $(filter linux,$(PEER)),$(SIM_RTL),$(AT_WIDTH)) ## files over bad paths; ns-3 or Linux [BEAT_BYTES PEER ROLE LOSS REORDER DUP CORRUPT SIZE CONGESTION SEED CELLS=n JOBS=n WALL_LIMIT=s WAVES=1 PCAP=file]
	@$(PY) -m sim.adversarial.matrix

fuzz: $(AT_WIDTH) ## mutated frames for the core, live transfers beside them [SEED FRAMES BEAT_BYTES WAVES=1]
	@$(PY) -m sim.adversarial.fuzz

packetdrill: $(SIM_RTL) ## packet traces against the core in virtual time [SCRIPT=name SEED=n PCAP=file WAVES=1; SO=1: for Google's packetdrill; GOOGLE=folder: its scripts of recovery]
	@$(PY) -m sim.adversarial.packetdrill

policies: $(POLICIES_RTL) ## congestion policies against their golden models [POLICY=name EVENTS=n SEED=n AREA=1 POLICY_PATH=dir]
	@$(PY) -m sim.bench.policies

new-policy: $(SET_UP) ## the pieces of a new policy, which passes its test at once [NAME=name KIND=startup or steady, POLICY_PATH=dir]
	@$(PY) -m scripts.new_policy "$(NAME)" "$(KIND)"

# Mistakes in the host software need no Verilog.
mutants: $(if $(filter host gateway driver estimator sw/%,$(MODULE)),$(SET_UP),$(RTL)) ## mistakes drawn in the core's Verilog or the host's C++, and which tests notice them [N=n SEED=n MODULE=name or host JOBS=n]
	@$(PY) -m scripts.mutants

formal: $(RTL) ## proofs of the exact sums of time base and pacer, and mutants that they must refuse
	@$(PY) -m cocotb_tests.formal

# ---- synthesize

rtl: $(RTL) ## SpinalHDL to Verilog: build/rtl/MODULE.v for each module [PRESET=name]
	@echo "$(PRESET): the tops are build/rtl/Downbeat.v, DownbeatAxi.v (registers), DownbeatGmii.v and DownbeatXgmii.v (registers and MAC)"
	@echo "  $$(ls build/rtl/*.v | wc -l) modules in build/rtl; the others are parts and benches for tests (docs/reference/ports.md)"

generate: $(RTL) ## writes the generated pages, headers and lists into docs and sw
	@install -D -m 644 build/rtl/downbeat_registers.h build/rtl/downbeat_event.h build/rtl/downbeat_host.h build/rtl/downbeat_policies.h -t sw/include
	@install -D -m 644 build/rtl/event_fields.py build/rtl/downbeat_layout.json -t sw/python/downbeat_toe
	@$(PY) -m sw.api
	@$(PY) -m scripts.docs.ports

release: build/scala.stamp build/policies/stamp ## a tarball in build/release: Verilog of the presets, headers, SystemRDL, cores, constraints
	@$(PY) -m scripts.release

wheel: $(SIM_RTL) ## the Python package with the simulated device in it, for pip on machines without the tree: build/wheel
	@$(PY) -m sim.lib.build lib
	@$(PY) -m pip wheel --quiet --no-index --no-deps --no-build-isolation --wheel-dir build/wheel \
	  --config-settings device=build/sim/lib/current/libdownbeat_sim.so .
	@ls build/wheel/*.whl

synth: build/policies/stamp ## LUTs, registers, block RAM, multipliers, state a flow [TARGET=ecp5 or xcup, FLOWS=n PRESET=name MODULE=name]
	@$(PY) -m scripts.synth $(MODULE) --target $(or $(TARGET),ecp5) $(if $(FLOWS),--flows $(FLOWS)) --preset '$(PRESET)'

FMAX := $(if $(GUARD),guard,$(if $(ESTIMATE),estimate))
fmax: build/policies/stamp ## clock rate on an ECP5 and its path [MODULE=name GRADE=6|7|8|8_5G SEED=n PRESET=name; ESTIMATE=1: by the netlist; GUARD=1: the guarded ones]
ifeq ($(FMAX),guard)
	@$(PY) -m scripts.ecp5.fmax.guard
else ifeq ($(FMAX),estimate)
	@$(PY) -m scripts.ecp5.fmax.estimate $(or $(MODULE),FlowEngine) --preset '$(PRESET)'
else
	@$(PY) -m scripts.ecp5.fmax $(or $(MODULE),FlowEngine) --preset '$(PRESET)' --grade $(or $(GRADE),6) --seed $(or $(SEED),1)
endif

bitstream: build/scala.stamp build/policies/stamp | $(SET_UP) ## a board's .bit; fails when a clock misses [BOARD=colorlight-i9 SEED=n POLICIES='a,b;c,d' FLOWS=n; PROGRAM=1: loads it by openFPGALoader]
	@$(PY) -m scripts.ecp5.bitstream $(or $(BOARD),colorlight-i9) $(if $(SEED),--seed $(SEED)) $(if $(POLICIES),--policies '$(POLICIES)') $(if $(FLOWS),--flows $(FLOWS)) $(if $(PROGRAM),--program)

format: $(SET_UP) ## Scala, C++ and Python as scalafmt, clang-format and ruff write them; lint checks it
	@scripts/format.sh

docs: $(RTL) ## the documentation site in build/docs; pages and links are checked
	@$(PY) -m scripts.docs

clean: ## removes everything built except the Python environment
	@find build -mindepth 1 -maxdepth 1 ! -name 'venv*' -exec rm -rf {} + 2>/dev/null || true

side-by-side: | variables
	@+SIDE_BY_SIDE=1 $(MAKE) -j2 CHOSEN="$(CHOSEN)" TARGETS="$(MAKECMDGOALS)" $(SIDES)

$(SYSTEM): scripts/system_packages.sh scripts/setup.sh | variables
	@mkdir -p $(@D)
	@scripts/setup.sh $(basename $(@F))
	@touch $@

tools: $(SET_UP)
	@scripts/setup.sh tools

$(SET_UP): requirements.txt $(SYSTEM)
	@scripts/setup.sh $(filter simulation,$(basename $(@F)))
	@$(CHECK_VARIABLES)

$(LITEX): requirements-litex.txt scripts/setup.sh scripts/system_packages.sh | $(SET_UP)
	@scripts/setup.sh litex

# A wrong variable is refused before anything is built; where set-up has yet to install Python, after that.
CHECK_VARIABLES = PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=.:sw/python python3 -m scripts.variables $(or $(TARGETS),$(MAKECMDGOALS))
variables:
	@! command -v python3 >/dev/null || $(CHECK_VARIABLES)

# Directories count as sources, so that a removed file is noticed.
# The stamp stands for the classes that it was made with: lost ones, and those of a copied tree, are compiled again.
build/scala.stamp: pom.xml $(shell find rtl -mindepth 1 -type d -o -name '*.scala') $(shell scripts/rtl.sh compiled || echo FORCE) | $(SYSTEM)
	@scripts/rtl.sh compile

# One directory holds one preset's Verilog: the other presets' stamps are void.
VOID_OTHERS = find build/rtl -maxdepth 1 -name '*.stamp' ! -name '$(BUILD).*' -delete
# Policies from outside the tree: all Verilog is made again when they change, or when POLICY_PATH does.
build/policies/stamp: build/scala.stamp FORCE | $(SET_UP)
	@scripts/rtl.sh policies

$(RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate '$(PRESET)'
	@$(VOID_OTHERS) && touch $@

# It has the list of modules in it: the same tests again need nothing.
build/rtl/$(BUILD).chosen.stamp: build/scala.stamp build/policies/stamp FORCE
	@[ $(RTL) -nt build/scala.stamp ] && [ $(RTL) -nt build/policies/stamp ] && exit; \
	[ $@ -nt build/scala.stamp ] && [ $@ -nt build/policies/stamp ] && [ "$$(cat $@)" = "$(CHOSEN)" ] && exit; \
	scripts/rtl.sh elaborate '$(PRESET)' build/rtl $(CHOSEN) && $(VOID_OTHERS) && echo "$(CHOSEN)" >$@

build/rtl/policies.stamp: build/scala.stamp build/policies/stamp FORCE
	@scripts/rtl.sh elaborate default build/rtl "Policy$(shell sed 's/^./\U&/' <<<'$(POLICY)')"
	@rm -f build/rtl/*.stamp

# The simulation has a preset of its own, so a directory of its own.
$(SIM_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate sim build/sim/rtl Downbeat DownbeatGmii HeaderTap WireBench GapBench
	@touch $@

$(FIRST_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate sim build/sim/rtl Downbeat
	@touch $@

$(SIM65536_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate sim65536 build/sim/rtl-sim65536 HeaderTap
	@touch $@

$(NS2_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate ns2 build/sim/rtl-ns2 HeaderTap
	@touch $@

$(HOST_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate '$(or $(NIC_PRESET),sim$(,)flows=256)$(if $(findstring hostPorts,$(PRESET)),,$(,)hostPorts=4)' \
	  $(@:.stamp=) DownbeatHost
	@touch $@

build/programs.stamp: scripts/programs.sh
	@scripts/programs.sh && touch $@

$(HOST_TESTS_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate host build/sim/rtl-hosttests DownbeatHost
	@touch $@

$(TEN_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate ten build/sim/rtl-ten DownbeatXgmii WireBench
	@touch $@

$(WIDE_RTL): build/sim/rtl-wide%.stamp: build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate 'sim,beatBytes=$*' $(@:.stamp=) Downbeat
	@touch $@

# Buffers that hold a window of Linux, and nothing else that takes long to Verilate.
$(LITEX_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate 'board,hostPorts=2,sendBufferBytes=16384,receiveBufferBytes=16384' $(@:.stamp=) DownbeatHostGmii
	@touch $@

$(NETLIST_RTL): build/scala.stamp build/policies/stamp
	@scripts/rtl.sh elaborate board build/netlist/rtl Downbeat
	@touch $@

$(PACER_RTL): build/sim/rtl-pacer-%.stamp: build/scala.stamp | $(SET_UP)
	@scripts/rtl.sh elaborate default,flows=$* build/sim/rtl-pacer-$* Pacer
	@touch $@

.PHONY: FORCE variables side-by-side tools help setup sim waves interop litex gap bench experiment experiments test lint soak matrix fuzz packetdrill policies new-policy formal estimator driver gateway rtl generate release wheel synth fmax bitstream docs format mutants clean
