# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Small networks with the core as the sender, where the answer is known without a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from downbeat_toe import policies as built
from downbeat_toe.policies import Policy

from sim.experiments.engine.measures import judge, traces
from sim.experiments.engine.measures.metrics import measure
from sim.experiments.engine.plan import lines
from sim.experiments.engine.plan.test_lines import words
from sim.experiments.engine.report import records
from sim.experiments.engine.runs.runs import Result, Runs
from sim.experiments.engine.runs.workers import Processes
from sim.experiments.engine.schema.load import load
from sim.experiments.engine.schema.measures import Measure
from sim.lib import build
from sim.lib.verilated import LAYOUT, PRESET

Tiny = Callable[..., Path]
Known = dict[str, dict[str, Policy]]
Runner = Callable[..., list[Result]]


@pytest.fixture(scope="module")
def known() -> Known:
    return built.read(LAYOUT.with_suffix(".json"))


@pytest.fixture(scope="module")
def program() -> Path:
    return build.experiment(PRESET) / "downbeat_experiment"


@pytest.fixture
def runs(program: Path, known: Known, tmp_path: Path) -> Runner:
    def run(path: Path, jobs: int = 1, kept: str = "kept") -> list[Result]:
        file = load(path, known)
        plans = [lines.plan(cell.experiment, known, 1) for cell in file.cells]
        return Runs(tmp_path / kept, lambda: Processes(jobs)).all(program, plans, lambda *_: None)

    return run


def test_two_connections_of_a_core_fill_the_bottleneck(runs: Runner, tiny: Tiny) -> None:
    for result, packets in zip(runs(tiny()), (250, 500), strict=True):
        assert all(records.FIELDS.keys() <= flow.keys() for flow in result["flows"])
        assert result["failure"] == "" and [flow["label"] for flow in result["flows"]] == ["a", "a"]
        seconds = result["seconds"] - min(flow["established"] for flow in result["flows"])
        sent = sum(flow["acknowledged"] for flow in result["flows"]) / 1460
        # One packet each 4 or 2 ms, as the paper's links count; a round trip and slow start are lost.
        assert 0.7 * packets * seconds < sent <= packets * seconds
        assert result["links"][0]["max_packets"] <= 20


def test_the_same_seed_gives_the_same_bytes_with_1_2_and_4_workers(runs: Runner, tiny: Tiny, tmp_path: Path) -> None:
    kept = []
    for jobs in (1, 2, 4):
        runs(tiny(), jobs, f"kept-{jobs}")
        kept.append({path.name: path.read_bytes() for path in (tmp_path / f"kept-{jobs}").glob("*.json")})
    assert len(kept[0]) == 2 and kept[0] == kept[1] == kept[2]


def test_runs_that_share_their_warm_up_have_the_bytes_that_each_has_alone(
    program: Path, known: Known, tiny: Tiny, tmp_path: Path
) -> None:
    """The second connection begins after it, by one start or the other, early or later."""
    late = '\n[[flow]]\nlabel = "b"\nto = 1\nstartup = "$start.startup"\nstart = "$start.at"\n'
    starts = [("standard", "1200 ms"), ("hoe", "1200 ms"), ("hoe", "1500 ms")]
    axis = ", ".join(f'{{ name = "{name} {at}", startup = "{name}", at = "{at}" }}' for name, at in starts)
    path = tiny(('rate = ["2 Mb/s", "4 Mb/s"]', f"start = [{axis}]"), ('"$rate"', '"4 Mb/s"'))
    head = (
        path.read_text().partition("[[published]]")[0].replace("[run]", '[run]\nwarm_up = "1 s"\nmeasure = "1100 ms"')
    )
    path.write_text(head + late)
    plans = [lines.plan(cell.experiment, known, 1) for cell in load(path, known).cells]
    runs = Runs(tmp_path / "together", lambda: Processes(1))
    together = runs.all(program, plans, lambda *_: None)
    for plan in plans:
        Runs(tmp_path / "alone", lambda: Processes(1)).all(program, [plan], lambda *_: None)
    kept = [{one.name: one.read_bytes() for one in (tmp_path / each).iterdir()} for each in ("together", "alone")]
    assert kept[0] == kept[1] and len(kept[0]) == 3
    measured = sum(flow["segments"] for result in together for flow in result["flows"])
    assert measured < runs.cost["core_segments"] < 2 * measured + 1000  # with segments from before the measuring
    opened = [result["flows"][2]["opened"] for result in together]
    assert opened == pytest.approx([1.2, 1.2, 1.5], abs=2e-3)  # the core is up to its link ahead of ns-3
    assert together[0]["flows"][2] != together[1]["flows"][2]


def test_a_transfer_without_loss_takes_its_rounds(runs: Runner, tiny: Tiny) -> None:
    """30 packets from a window of 1: 1, 2, 4, 8 and 15, five round trips and the last packets' time."""
    more = 'transfer = "30 packets"\n'
    path = tiny(
        ("count = 2\n", more), ('rate = ["2 Mb/s", "4 Mb/s"]', 'rate = ["40 Mb/s"]'), ("20 packets", "90 packets")
    )
    path.write_text(path.read_text().partition("[[published]]")[0])
    (flow,) = runs(path)[0]["flows"]
    (begun,), (done,) = flow["begun"], flow["done"]
    assert 5 * 0.024 < done - max(begun, flow["established"]) < 5 * 0.024 + 15 * 0.0003 + 0.002


def test_a_connection_ends_while_its_core_has_nothing_to_do(runs: Runner, tiny: Tiny) -> None:
    """Its RST leaves at the end and not at the core's last event, which is seconds before."""
    more = 'transfer = "3 packets"\nrounds = { count = 2, gap = "20 s" }\nlifetime = "10 s"\n'
    path = tiny(("count = 2\n", more), ('["2 Mb/s", "4 Mb/s"]', '["4 Mb/s"]'), ('"2 s"', '"12 s"'))
    path.write_text(path.read_text().partition("[[published]]")[0])
    (result,) = runs(path)
    (flow,) = result["flows"]
    assert result["failure"] == "" and len(flow["done"]) == 1
    assert 9.8 < flow["seconds"] < 10.2


def test_a_lossy_link_destroys_its_share_and_sizes_have_their_times(runs: Runner, tiny: Tiny) -> None:
    path = tiny(
        ('delay = "10 ms", queue', 'delay = "10 ms", loss = "5 %", queue'), ('["2 Mb/s", "4 Mb/s"]', '["4 Mb/s"]')
    )
    path.write_text(path.read_text().partition("[[published]]")[0])
    (result,) = runs(path)
    sent = sum(flow["segments"] for flow in result["flows"])
    assert 0.01 * sent < sum(flow["retransmissions"] for flow in result["flows"]) < 0.3 * sent
    for flow in result["flows"]:
        first, second = flow["at_sizes"]
        assert 0.024 < first < second < 2


def test_a_link_that_changes_carries_its_new_rate_and_round_trip(runs: Runner, tiny: Tiny) -> None:
    """4 Mb/s for 1 s, then 1 Mb/s and 40 ms more each way: 500 packets of 1,000 bytes, then 125 a second."""
    change = 'changes = [{ at = "1 s", rate = "1 Mb/s", delay = "50 ms" }]'
    path = tiny(('"20 packets" }', f'"20 packets" }}, {change}'), ('["2 Mb/s", "4 Mb/s"]', '["4 Mb/s"]'))
    head = path.read_text().partition("[[published]]")[0].replace('duration = "2 s"', 'duration = "4 s"')
    path.write_text(head + '\n[[flow]]\nlabel = "b"\nto = 1\nstart = "1500 ms"\n')
    (result,) = runs(path)
    sent = sum(flow["acknowledged"] for flow in result["flows"]) / 1460
    assert 300 + 250 < sent < 500 + 375
    times = [flow["established"] - flow["opened"] for flow in result["flows"]]
    assert max(times[:2]) < 0.1 < 2 * (0.05 + 0.001 + 0.001) < times[2]


def test_packets_take_the_way_through_a_network_of_domains(runs: Runner, tiny: Tiny, known: Known) -> None:
    """Without edges beside the trees there is one way, whose delays make the handshake's time."""
    stubs = "stubs = { transits = 3, domains = 2, routers = 4, edges = 0 }"
    path = tiny(('"dumbbell"', f'"transit-stub"\n{stubs}'), ('["2 Mb/s", "4 Mb/s"]', '["4 Mb/s"]'), ("= 2\n", "= 6\n"))
    more = '\n[[flow]]\nlabel = "b"\nsender = "ns-3"\nfrom = 1\nto = 1\n'
    path.write_text(path.read_text().partition("[[published]]")[0] + more)
    (result,) = runs(path)
    plan = lines.plan(load(path, known).cells[0].experiment, known, 1)
    delays: dict[int, dict[int, float]] = {}
    for link in words(plan, "link"):
        a, b, delay = int(link["a"]), int(link["b"]), float(link["delay"]) / 1e9
        delays.setdefault(a, {})[b] = delays.setdefault(b, {})[a] = delay
    ways, reached = {0: 0.0}, [0]
    for router in reached:
        fresh = delays[router].keys() - ways.keys()
        ways |= {other: ways[router] + delays[router][other] for other in fresh}
        reached += fresh
    hosts = [int(host["at"]) for host in words(plan, "host")]
    assert all(flow["acknowledged"] > 0 for flow in result["flows"])
    for flow, line in zip(result["flows"][:6], words(plan, "flow"), strict=False):
        expected = 2 * (ways[hosts[int(line["host"])]] + 0.002)
        assert expected < flow["established"] - flow["opened"] < expected + 0.002


def test_a_later_connection_starts_with_what_the_first_has_seen(runs: Runner, tiny: Tiny) -> None:
    """LISS: one steady connection gives the next half of its window as ssthresh (algorithms' L = 1, S = 0)."""
    more = 'count = 1\nobserved = true\n\n[[flow]]\nlabel = "b"\nto = 1\nestimate = "liss"\nstart = "1500 ms"\n'
    path = tiny(("count = 2\n", ""), more="")
    head, _, tail = path.read_text().partition("[[published]]")
    assert tail
    path.write_text(head + more)
    first, second = runs(path)[0]["flows"]
    assert second["start_reason"].startswith("1 steady connection"), second["start_reason"]
    assert 1 < second["start_ssthresh"] < 30 and first["start_reason"] == ""


def test_an_estimate_counts_that_is_made_when_slow_start_has_ended(runs: Runner, tiny: Tiny) -> None:
    """SPM waits for twelve samples; the bottleneck is faster than what the first window asks, so d is a packet's time."""
    more = 'line = "1 Gb/s"\nstartup = "spm"\nssthresh = "32 packets"\n'
    path = tiny(
        ('count = 2\nstart = { uniform = ["0 s", "100 ms"] }\n', more),
        ('["2 Mb/s", "4 Mb/s"]', '["40 Mb/s"]'),
        ('delay = "10 ms"', 'delay = "40 ms"'),
        ("20 packets", "400 packets"),
    )
    path.write_text(path.read_text().partition("[[published]]")[0])
    (flow,) = runs(path)[0]["flows"]
    assert flow["exit"] == "policy" and flow["exit_before"] < 33
    assert 300 < flow["estimate"] < 500  # 40 Mb/s and 84 ms are 420 packets of 1,000 bytes


# 8 ms a packet and 240 ms: 30 packets.
SLOW = (
    ('["2 Mb/s", "4 Mb/s"]', '["1 Mb/s"]'),
    ('delay = "10 ms"', 'delay = "119 ms"'),
    ('rate = "100 Mb/s"', 'rate = "1 Gb/s"'),
    ("20 packets", "50 packets"),
    ('"2 s"', '"8 s"'),
)


@pytest.mark.parametrize("inverted", [False, True])
def test_pairs_on_an_empty_path_come_out_as_they_left(inverted: bool, runs: Runner, tiny: Tiny) -> None:
    """SPM asks 1, 1.5, 2 and 4 times the first gap; the window is what the path holds. The round trip is a full
    segment's, with its time on the bottleneck: 31 packets, with Hoe maybe the second's too. Inverted pairs are for
    delayed ACKs."""
    flows = {}
    for startup in ("spm", "hoe"):
        more = f'startup = "{startup}"\ninitial_window = 2\ntrace = true\n'
        more += 'startup_argument = "inverted=1"\nreceiver = { delayed_ack = true }\n' if inverted else ""
        path = tiny(('count = 2\nstart = { uniform = ["0 s", "100 ms"] }\n', more), *SLOW)
        path.write_text(path.read_text().partition("[[published]]")[0])
        (flows[startup],) = runs(path)[0]["flows"]
    assert flows["spm"]["estimate"] == 31 and 31 <= flows["hoe"]["estimate"] <= 33
    gaps = [gap for gap in flows["spm"]["trace"]["gaps"] if gap[0] > 0.001][:12]  # the estimate's
    assert len(gaps) == 12 and all(came == pytest.approx(left, abs=1e-5) for left, came in gaps)
    assert {8, 12, 16, 32} == {round(1e3 * left) for left, _ in gaps}


def test_westwoods_rate_on_the_free_path_is_the_filters(runs: Runner, tiny: Tiny, known: Known) -> None:
    """The path of table 4-1 with nothing else on it; cocotb_tests/calculation/test_rate_estimate.py has 978 to 983
    segments from the equation, when cwnd has reached 32."""
    more = (
        'startup = "astart"\nstartup_argument = "bwe=1"\nssthresh = "32 packets"\ntrace = true\nestimated_by = "bwe"\n'
    )
    path = tiny(
        ('count = 2\nstart = { uniform = ["0 s", "100 ms"] }\n', more),
        ('["2 Mb/s", "4 Mb/s"]', '["50 Mb/s"]'),
        ('delay = "10 ms"', 'delay = "218 ms"'),
        ('rate = "100 Mb/s"', 'rate = "1 Gb/s"'),
        ('"1000 B"', '"1040 B"'),
        ("20 packets", "1000 packets"),
        ('"2 s"', '"5 s"'),
    )
    path.write_text(path.read_text().partition("[[published]]")[0])
    (result,) = runs(path)
    measures = (Measure.model_validate({"metric": "estimate", "rounds": rounds}) for rounds in (0, 1))
    windows = [measure(load(path, known).experiment, result, what) for what in measures]
    assert 978 <= windows[0] <= 983 < windows[1]


def test_a_gap_shorter_than_a_packets_time_becomes_that_time(runs: Runner, tiny: Tiny) -> None:
    more = '\n[[pairs]]\nlabel = "p"\nto = 1\ngaps = ["4 ms", "8 ms", "20 ms"]\nevery = "200 ms"\nstart = "1 s"\n'
    path = tiny(*SLOW, ("count = 2", "count = 0"))
    path.write_text(path.read_text().partition("[[published]]")[0] + more)
    (result,) = runs(path)
    assert len(result["pairs"][0]["arrivals"]) > 30
    for left, came in traces.gaps(result, "p"):
        assert came == pytest.approx(max(left, 0.008), abs=1e-8)


def test_careful_resume_jumps_to_half_of_what_an_earlier_connection_to_the_host_had(runs: Runner, tiny: Tiny) -> None:
    """40 Mb/s and 24 ms are 120 packets; RFC 9959 3.3."""
    more = 'host = "peer"\nobserved = true\ntransfer = "1 MB"\n\n[[flow]]\nlabel = "b"\nto = 1\nhost = "peer"\n'
    path = tiny(
        ('count = 2\nstart = { uniform = ["0 s", "100 ms"] }\n', f'{more}estimate = "resume"\nstart = "1500 ms"\n'),
        ('["2 Mb/s", "4 Mb/s"]', '["40 Mb/s"]'),
        ("20 packets", "200 packets"),
    )
    path.write_text(path.read_text().partition("[[published]]")[0])
    first, second = runs(path)[0]["flows"]
    assert second["start_reason"].startswith("saved"), second["start_reason"]
    assert 10 < second["start_jump"] <= 100 and first["start_reason"] == ""


def test_queues_traffic_and_ns3s_own_tcp(runs: Runner, tiny: Tiny) -> None:
    """RED keeps the queue about its thresholds once its average follows, drop-tail fills the buffer."""
    more = '\n[[flow]]\nlabel = "b"\nsender = "ns-3"\nto = 1\n' + "".join(
        f'\n[[traffic]]\nkind = "{kind}"\nto = 1\nrate = "200 kb/s"\n{extra}'
        for kind, extra in (("cbr", ""), ("poisson", ""), ("pareto", 'on = "100 ms"\noff = "100 ms"\nshape = 1.5\n'))
    )
    queues = ['discipline = "drop-tail", low = 0, high = 0', 'discipline = "red", low = 2, high = 6']
    means = []
    for queue in queues:
        path = tiny(
            ('"20 packets"', f'"20 packets", {queue}'), ('["2 Mb/s", "4 Mb/s"]', '["4 Mb/s"]'), ('"2 s"', '"6 s"')
        )
        text = path.read_text().partition("[[published]]")[0].replace("[run]", '[run]\nmeasure = "2 s"')
        path.write_text(text + more)
        (result,) = runs(path)
        assert result["failure"] == "" and all(flow["acknowledged"] > 0 for flow in result["flows"])
        assert result["links"][0]["dropped"] > 0
        means.append(result["links"][0]["mean_packets"])
    assert means[1] < 0.7 * means[0] and means[0] > 8


def test_the_judgement_takes_the_engines_results(runs: Runner, tiny: Tiny, known: Known) -> None:
    file = load(tiny(), known)
    found = runs(tiny())
    results = {judge.name(cell): [one] for cell, one in zip(file.cells, found, strict=True)}
    (row,) = judge.rows(file, results)
    slow, fast = (sum(flow["at_marks"][0] / flow["segment_size"] for flow in one["flows"]) for one in found)
    assert row["ours"] == pytest.approx(fast / slow)
    assert 0 < slow <= 250 and slow < fast <= 500  # packets that the bottleneck takes in the second before the mark
