# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Each variable of make that is wrong is refused in one line that says what to use, before anything is built."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from scripts.variables import names
from scripts.variables.__main__ import known_names, misplaced, refusal, unfit, unknown, unread
from scripts.variables.names import ROOT
from scripts.variables.schema import VARIABLES, Variable
from sim.experiments.engine.schema.methods import METHODS

# Common wrong values; each is wrong for every variable but those of FINE.
KINDS = {
    "wrong type": "a machine!",
    "zero": "0",
    "negative": "-5",
    "huge": "99999999999999",
    "infinite": "1e999",
    "unknown name": "nosuch",
    "a directory": "/tmp",
}
SHARES = ("LOSS", "DROP", "REORDER", "DUP", "CORRUPT")
SWITCHES = ("WAVES", "ESTIMATE", "GUARD", "PROGRAM", "AREA", "COMPARE", "FULL", "VARY", "SO")
FINE = {
    *((name, "zero") for name in (*SHARES, *SWITCHES, "CELLS", "matrix JOBS")),
    ("new-policy NAME", "unknown name"),
    *(("new-policy POLICY_PATH", kind) for kind in KINDS),
    ("POLICY_PATH", "a directory"),
    ("GOOGLE", "a directory"),
}
# A variable's right and wrong values, and its refusal.
RIGHT = {
    "BEAT_BYTES": ("64", "a power of two, 8 to 64"),
    "TEST": ("rx/test_frame_filter", "the folders are"),
    "CASE": ("test_a_target_ends_before_anything_is_built", "no such case"),
    "SEED": ("7", "from 1 to 2147483647"),
    "JOBS": ("2", "to 256"),
    "FST": ("Makefile", "no such file"),
    "PRESET": ("default,flows=64", "default, sim"),
    "POLICIES": ("standard,rapid;reno,cubic", "use START-UP,...;STEADY,..."),
    "MODULE": ("FlowEngine", "CalculatorLogistic, "),
    "POLICY": ("reno", "standard, "),
    "POLICY_PATH": ("rtl", "no such directory"),
    "GOOGLE": ("rtl", "no such directory"),
    "STARTUP": ("spm", "standard, "),
    "STEADY": ("reno", "reno, aimd, "),
    "STARTUP_ARGUMENT": ("n=10, gap=1ms", "as a=0.5, b=0.3"),
    "STEADY_ARGUMENT": ("0x1234", "as a=0.5, b=0.3"),
    "KIND": ("steady", "startup, steady"),
    "BOARD": ("colorlight-i9", "colorlight-i9, ecpix5"),
    "TARGET": ("ecp5", "ecp5, xcup"),
    "GRADE": ("8_5G", "6, 7, 8, 8_5G"),
    "FLOWS": ("64", "power of two, 4 to 32768"),
    "EVENTS": ("100000", "from 1 to"),
    "N": ("3", "from 1 to"),
    "RUNS": ("3", "from 1 to"),
    "FRAMES": ("100", "from 1 to"),
    "CONNECTIONS": ("100", "from 1 to"),
    "CELLS": ("0", "from 0 to"),
    "DURATION": ("0.5", "seconds, more than 0"),
    "FILE": ("README.md", "file"),
    "SIZE": ("64 KiB", "a size from 1B to 4GB"),
    "RATE": ("20 Mb/s", "a rate from 10kb/s to 1Gb/s"),
    "RTT": ("0.2 s", "a time from 100us to 10s"),
    "BUFFER": ("1BDP", "as 1BDP, 100kB or 50packets"),
    "SSTHRESH": ("1GiB", "from 1460B to 1GiB"),
    "INITIAL_WINDOW": ("10", "from 1 to 255"),
    "TAP": ("header", "frame, header"),
    "PCAP": ("build.pcapng", "ends in .pcapng"),
    "WALL_LIMIT": ("900", "from 1 to 86400"),
    "CONGESTION": ("reno", "this kernel has reno"),
    "APP": ("web", "all, transfers, web"),
    "PEER": ("linux", "ns3, linux"),
    "ROLE": ("sender", "sender, receiver"),
    "SCRIPT": ("nagle", "no such script"),
    "SCHEDULE": ("README.md", "no such file; downbeat schedule"),
    "PART": ("flood", "connections, flood, blind"),
    **dict.fromkeys(SHARES, ("2%", "up to, but without, 1")),
    **dict.fromkeys(SWITCHES, ("1", "use 0 or 1")),
}
RIGHT_NAMES = {
    "bench": ("wire", "speed, latency"),
    "experiment": ("spm", "gateway, linearity"),
    "new-policy": ("foo", "lower-case letters"),
}
CASES = [
    pytest.param(variable, kind, id=f"{variable.targets[0]}-{variable.name}-{kind}")
    for variable in VARIABLES
    for kind in KINDS
    if not {(variable.name, kind), (f"{variable.targets[0]} {variable.name}", kind)} & FINE
]


def identity(variable: Variable) -> str:
    return f"{variable.targets[0]}-{variable.name}"


def expected(variable: Variable) -> tuple[str, str]:
    return RIGHT_NAMES[variable.targets[0]] if variable.name == "NAME" else RIGHT[variable.name]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No variable is set."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable.name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(("variable", "kind"), CASES)
def test_a_wrong_value_is_refused_in_a_line_that_says_what_to_use(
    variable: Variable, kind: str, alone: pytest.MonkeyPatch
) -> None:
    alone.setenv(variable.name, KINDS[kind])
    refused = refusal([variable.targets[0]])
    assert refused.startswith(f"{variable.name}={KINDS[kind]}: ")
    assert "\n" not in refused
    assert any(words in refused for words in (expected(variable)[1], "nearest: ", "a directory", "no such"))


@pytest.mark.parametrize("variable", VARIABLES, ids=identity)
def test_a_right_value_and_none_are_taken(variable: Variable, alone: pytest.MonkeyPatch) -> None:
    alone.chdir(ROOT)
    for fine in (expected(variable)[0], ""):
        alone.setenv(variable.name, fine)
        assert refusal([variable.targets[0]]) == ""


@pytest.mark.parametrize("start", [*METHODS, "all", "standard"])
def test_make_sim_takes_every_start_that_it_has(start: str, alone: pytest.MonkeyPatch) -> None:
    alone.setenv("STARTUP", start)
    assert refusal(["sim"]) == ""


def test_every_variable_that_the_makefile_hands_on_has_its_line() -> None:
    handed_on = re.findall(r"^export (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {name for line in handed_on for name in line.split()} <= {variable.name for variable in VARIABLES}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("RATE", "20", "use a rate from 10kb/s to 1Gb/s"),
        ("RTT", "10000s", "use a time from 100us to 10s"),
        ("SIZE", "300GB", "to 4GB"),
        ("BUFFER", "1e9BDP", "as 1BDP"),
        ("STEADY_ARGUMENT", "a=", "use NAME=VALUE"),
        ("PCAP", "no/such/place/x.pcapng", "no such directory: no/such/place"),
        ("FILE", "/dev/null", "no such file"),
        ("LOSS", "100%", "without, 1"),
    ],
)
def test_a_quantity_is_refused_with_its_unit(name: str, value: str, words: str, alone: pytest.MonkeyPatch) -> None:
    alone.setenv(name, value)
    assert words in refusal(["sim"])


@pytest.mark.parametrize(
    ("command_line", "words"),
    [
        ("rR --no-print-directory -- RAET=20Mbps", "RAET: no such variable; do you mean RATE? make sim takes BUFFER, "),
        ("rR -- SEED=1 seed=2", "seed: no such variable; do you mean SEED? "),
        (r"rR -- STEADY_ARGUMENT=a=0.5,\ b=0.3 SIZE=64\ KiB PRESET=default", ""),
        ("rR", ""),
        ("", ""),
    ],
)
def test_a_name_that_no_target_takes_is_refused(command_line: str, words: str) -> None:
    said = unknown(["sim"], command_line)
    assert said.startswith(words) if words else said == ""


def test_no_name_that_help_lists_is_refused() -> None:
    listed = re.findall(r"^[a-z-]+:.*?## .*?\[(.*)\]$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    names = {word for each in listed for word in re.findall(r"(?<![='\w])[A-Z][A-Z_]+\b", each)}
    assert "GOOGLE" in names and not names - known_names(ROOT / "Makefile")


@pytest.mark.parametrize(
    ("targets", "command_line", "words"),
    [
        (["rtl"], "rR -- MODULE=Pacer", "MODULE: make rtl does not take it; it is of make fmax, "),
        (["docs"], "rR -- SEED=2", "SEED: make docs does not take it; "),
        (["rtl", "fmax"], "rR -- MODULE=Pacer", ""),
        (["mutants"], "rR -- MODULE=Pacer N=3", ""),
        (["bench"], "rR -- NAME=speed SEED=2", ""),
        (["build/rtl/default.stamp"], "rR -- SEED=2", ""),
        ([], "rR -- SEED=2", ""),
    ],
)
def test_a_name_that_other_targets_take_is_refused(targets: list[str], command_line: str, words: str) -> None:
    said = misplaced(targets, command_line)
    assert said.startswith(words) if words else said == ""


@pytest.mark.parametrize(
    ("name", "command_line", "words"),
    [
        ("gateway", "rR -- NAME=gateway RUNS=3", "RUNS: NAME=gateway does not take it; it takes SEED"),
        (
            "linearity",
            "rR -- NAME=linearity FULL=1",
            "FULL: NAME=linearity does not take it; it takes SEED, JOBS, DURATION",
        ),
        ("linearity", "rR -- NAME=linearity DURATION=3 SEED=2", ""),
        ("cubic", "rR -- NAME=cubic FULL=1 RUNS=3", ""),
    ],
)
def test_what_a_program_of_the_experiments_does_not_read_is_refused(
    name: str, command_line: str, words: str, alone: pytest.MonkeyPatch
) -> None:
    alone.setenv("NAME", name)
    assert unread(["experiment"], command_line) == words


def test_an_experiment_that_would_be_too_short_is_refused(alone: pytest.MonkeyPatch) -> None:
    """DURATION=1 of linearity has no pair in it."""
    alone.setenv("DURATION", "1")
    alone.setenv("NAME", "linearity")
    assert refusal(["experiment"]) == "DURATION=1: too short to measure anything; use 20 seconds or more"
    alone.setenv("NAME", "cubic")
    assert refusal(["experiment"]) == ""


def test_the_nearest_tests_and_cases_are_named(alone: pytest.MonkeyPatch) -> None:
    alone.setenv("TEST", "rx/frame_fliter")
    assert refusal(["test"]).startswith("TEST=rx/frame_fliter: no such test; nearest: rx/test_frame_filter, ")
    alone.setenv("TEST", "scripts/variables/test_variables")
    alone.setenv("CASE", "test_the_nearest_test_and_case_are_named")
    assert "nearest: test_the_nearest_tests_and_cases_are_named" in refusal(["test"])


def test_of_a_long_list_the_nearest_are_named(alone: pytest.MonkeyPatch) -> None:
    alone.setenv("MODULE", "Pacer Timrs")
    assert refusal(["synth"]).startswith("MODULE=Pacer Timrs: there is no Timrs; nearest: Timers, ")


@pytest.mark.parametrize(
    "case",
    ["downbeat:a_shut_window_is_probed_with_one_byte", "probes_leave_at_their_times_and_come_back_with_them/x=1"],
)
def test_a_case_of_another_module_is_one(case: str, alone: pytest.MonkeyPatch) -> None:
    alone.setenv("CASE", case)
    assert refusal(["test"]) == ""


def test_what_a_target_does_not_take_is_not_looked_at(alone: pytest.MonkeyPatch) -> None:
    alone.setenv("NAME", "a machine")
    assert refusal(["test"]) == ""


def test_policies_from_outside_the_tree_count(alone: pytest.MonkeyPatch, tmp_path: os.PathLike[str]) -> None:
    place = ROOT.joinpath(tmp_path, "steady")
    place.mkdir()
    (place / "Quick.scala").touch()
    alone.setenv("POLICY_PATH", str(tmp_path))
    alone.setenv("POLICY", "quick")
    assert refusal(["policies"]) == ""


@pytest.mark.parametrize(
    ("target", "setting"),
    [
        ("policies", "EVENTS=0"),
        ("policies", "POLICY=nosuch"),
        ("test", "SEED=abc"),
        ("experiment", "NAME=nosuch"),
        ("sim", "RTT=0"),
        ("fuzz", "FRAMES=-5"),
    ],
)
def test_a_target_ends_before_anything_is_built(target: str, setting: str) -> None:
    done = subprocess.run(["make", target, setting], cwd=ROOT, text=True, capture_output=True, check=False)
    first, _, rest = done.stderr.partition("\n")
    assert done.returncode == 2
    assert done.stdout == ""
    assert first.startswith(f"{setting}: use ")
    assert len(rest.splitlines()) == 1, "make's own line"


def test_make_itself_says_which_variable_it_does_not_know() -> None:
    done = subprocess.run(["make", "sim", "RAET=20"], cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("RAET: no such variable; do you mean RATE? ")


def test_variables_are_looked_at_before_any_package_is_there() -> None:
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'sw' / 'python'}", "LOSS": "2"}
    done = subprocess.run(
        [sys.executable, "-S", "-m", "scripts.variables", "sim"], cwd=ROOT, env=paths, text=True, capture_output=True
    )
    assert done.returncode == 2 and done.stderr.startswith("LOSS=2: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"POLICIES": "standard,rapit;reno"}, "there is no startup policy rapit; use rapid"),
        ({"POLICIES": "rapid;reno"}, "keep standard"),
        ({"PRESET": "board,policies=standard;rono"}, "there is no steady policy rono; use reno"),
        ({"PRESET": "board,policies=standard;reno,flows=16"}, ""),
        ({"PRESET": "board,policies=standard;reno,flos=16"}, "use FIELD=VALUE"),
    ],
)
def test_a_misspelled_policy_is_refused(given: dict[str, str], says: str, alone: pytest.MonkeyPatch) -> None:
    for name, value in given.items():
        alone.setenv(name, value)
    refused = refusal(["bitstream" if "POLICIES" in given else "rtl"])
    assert (says in refused) if says else not refused


@pytest.mark.parametrize(
    ("board", "policies", "says"),
    [
        ("", "standard;reno", "POLICIES: colorlight-i9 has no core in it"),
        ("ecpix5-tcp", "standard,rapid;reno", ""),
        ("ecpix5-tcp", f"{','.join(names.policies('startup'))};reno", "% does not route: leave out "),
    ],
)
def test_policies_that_the_board_cannot_have_are_refused(
    board: str, policies: str, says: str, alone: pytest.MonkeyPatch
) -> None:
    alone.setenv("BOARD", board)
    alone.setenv("POLICIES", policies)
    refused = unfit(["bitstream"])
    assert (says in refused) if says else not refused
    assert "\n" not in refused
