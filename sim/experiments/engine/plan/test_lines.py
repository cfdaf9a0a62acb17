# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The plan of a run: rates that give a packet the paper's time, and draws that depend on the seed alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest

from sim.experiments.engine.plan.lines import plan
from sim.experiments.engine.plan.network import base_rtt
from sim.experiments.engine.schema.checks import Policies
from sim.experiments.engine.schema.load import load

Tiny = Callable[..., Path]


def words(text: str, kind: str) -> list[dict[str, str]]:
    lines = [line.split() for line in text.splitlines() if line.startswith(f"{kind} ")]
    return [dict(word.split("=", 1) for word in line[1:]) for line in lines]


def text(path: Path, policies: Policies, cell: int = 0, seed: int = 1) -> str:
    return plan(load(path, policies).cells[cell].experiment, policies, seed)


def test_a_full_packet_takes_the_papers_time(tiny: Tiny, policies: Policies) -> None:
    written = text(tiny(), policies)
    (link,), (core,) = words(written, "link"), words(written, "core")
    # 1,502 bytes of ours on ns-3's link, 1,538 on the core's wire, 1,000 of the paper: 4 ms, and 80 us.
    assert 1502 * 8 / int(link["rate"]) == pytest.approx(0.004, rel=1e-6)
    assert 1538 * 8 / int(core["rate"]) == pytest.approx(80e-6, rel=1e-6)
    assert link["queue"] == "20p"


@pytest.mark.parametrize(("size", "queue"), [("10 kB", "15020B"), ("1 BDP", "9012B"), ("7 packets", "7p")])
def test_a_buffer_in_bytes_holds_as_many_packets(size: str, queue: str, tiny: Tiny, policies: Policies) -> None:
    # 2 Mb/s and 24 ms are 6 packets of 1,000 bytes.
    (link,) = words(text(tiny(("20 packets", size)), policies), "link")
    assert link["queue"] == queue


def test_cells_of_one_seed_have_the_same_draws_and_seeds_others(tiny: Tiny, policies: Policies) -> None:
    def starts(cell: int, seed: int) -> list[str]:
        return [flow["start"] for flow in words(text(tiny(), policies, cell, seed), "flow")]

    assert starts(0, 1) == starts(1, 1) != starts(0, 2)
    assert text(tiny(), policies) == text(tiny(), policies)


def test_arrivals_and_lifetimes_have_their_means(tiny: Tiny, policies: Policies) -> None:
    more = 'every = { exponential = "10 ms" }\nlifetime = { pareto = { mean = "50 ms", shape = 3.0 } }\nhosts = 3\n'
    written = text(tiny(("count = 2\n", more), ('duration = "2 s"', 'duration = "40 s"')), policies)
    flows = words(written, "flow")
    assert len(flows) == pytest.approx(4000, rel=0.1)
    lives = [int(flow["stop"]) - int(flow["start"]) for flow in flows if int(flow["stop"]) < 40 * 10**9]
    assert fmean(lives) == pytest.approx(50e6, rel=0.1)
    assert {flow["host"] for flow in flows} == {"0", "1", "2"} and len(words(written, "host")) == 3


def test_of_connections_that_arrive_no_more_come_than_are_counted(tiny: Tiny, policies: Policies) -> None:
    written = text(tiny(("count = 2\n", 'count = 2\nevery = "10 ms"\n')), policies)
    first, second = (int(flow["start"]) for flow in words(written, "flow"))
    assert second - first == 10_000_000


def test_a_link_changes_at_its_time_what_the_change_names(tiny: Tiny, policies: Policies) -> None:
    change = 'changes = [{ at = "1 s", rate = "1 Mb/s", loss = "2 %" }]'
    written = text(tiny(('"20 packets" }', f'"20 packets" }}, {change}')), policies)
    ((at, rate, loss),) = [tuple(one[name] for name in ("at", "rate", "loss")) for one in words(written, "change")]
    assert (at, rate, loss) == ("1000000000", "1502000", "0.02")
    assert "delay" not in words(written, "change")[0]


def test_a_flow_uses_renos_recovery(tiny: Tiny, policies: Policies) -> None:
    written = text(tiny(("count = 2\n", 'count = 1\nrecovery = "reno"\n\n[[flow]]\nlabel = "b"\nto = 1\n')), policies)
    assert [flow.get("reno-recovery") for flow in words(written, "flow")] == ["1", None]


def test_flows_that_name_a_host_share_it(tiny: Tiny, policies: Policies) -> None:
    more = 'host = "peer"\n\n[[flow]]\nlabel = "b"\nto = 1\nhost = "peer"\n\n[[flow]]\nlabel = "c"\nto = 1\n'
    written = text(tiny(("count = 2\n", f"count = 2\n{more}")), policies)
    assert [flow["host"] for flow in words(written, "flow")] == ["0", "0", "0", "1"]
    assert len(words(written, "host")) == 2


def test_rounds_are_writes_of_one_connection_or_connections_of_their_own(tiny: Tiny, policies: Policies) -> None:
    def rounds(fresh: str) -> str:
        more = f'transfer = "30 packets"\nrounds = {{ count = 3, gap = "1 s", jitter = "10 ms", fresh = {fresh} }}\n'
        return text(tiny(("count = 2\n", more)), policies)

    kept, fresh = rounds("false"), rounds("true")
    assert (len(words(kept, "flow")), len(words(kept, "write"))) == (1, 3)
    assert (len(words(fresh, "flow")), len(words(fresh, "write"))) == (3, 3)
    assert {write["bytes"] for write in words(kept, "write")} == {str(30 * 1460)}
    assert words(kept, "flow")[0]["finish"] == "0" and words(fresh, "flow")[0]["finish"] == "1"


def test_a_session_types_at_drawn_gaps(tiny: Tiny, policies: Policies) -> None:
    """As telnet: small writes of one connection, a second apart in the mean."""
    more = 'transfer = "64 B"\nrounds = { count = 2000, gap = { exponential = "1 s" } }\n'
    writes = words(text(tiny(("count = 2\n", more)), policies), "write")
    times = [int(write["at"]) for write in writes]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert fmean(gaps) == pytest.approx(1e9, rel=0.1) and fmean(gap > 1e9 for gap in gaps) == pytest.approx(
        0.37, abs=0.04
    )


def test_a_chain_has_its_links_in_a_row_and_a_star_a_path_for_each(tiny: Tiny, policies: Policies) -> None:
    chain = text(tiny(('"dumbbell"', '"chain"\nhops = 3'), ("to = 1", "to = 3")), policies)
    assert [(link["a"], link["b"]) for link in words(chain, "link")] == [("0", "1"), ("1", "2"), ("2", "3")]
    star = text(tiny(('"dumbbell"', '"star"')), policies)
    assert [(link["a"], link["b"]) for link in words(star, "link")] == [("0", "1"), ("0", "2")]
    assert [host["at"] for host in words(star, "host")] == ["1", "2"]
    cell = load(tiny(), policies).cells[0].experiment
    assert base_rtt(cell, 0, 1) == 24_000_000


def test_a_transit_stub_is_connected_and_its_ends_are_drawn(tiny: Tiny, policies: Policies) -> None:
    stubs = "stubs = { transits = 8, domains = 3, routers = 8, edges = 0.3 }"
    path = tiny(('"dumbbell"', f'"transit-stub"\n{stubs}'), ("count = 2\n", "count = 40\n"))
    written = text(path, policies)
    pairs = [(int(link["a"]), int(link["b"])) for link in words(written, "link")]
    reached = {0}
    for _ in range(200):
        reached |= {end for pair in pairs if reached.intersection(pair) for end in pair}
    assert len(reached) == 8 * (1 + 3 * 8) == int(words(written, "run")[0]["routers"])
    delays = [int(link["delay"]) for link in words(written, "link")]
    assert 5_000_000 <= min(delays) < 7_000_000 and 13_000_000 < max(delays) <= 15_000_000
    ends = {int(host["at"]) for host in words(written, "host")}
    assert min(ends) >= 8 and len(ends) > 25 and {core["at"] for core in words(written, "core")} == {"0"}
    assert text(path, policies) == written != text(path, policies, seed=2)


def test_an_estimator_has_options_only_of_methods_that_a_flow_uses(tiny: Tiny, policies: Policies) -> None:
    options = ('packet = "1000 B"\n', 'packet = "1000 B"\nmiss_weight = 1\nspand_lower_bound = true\n')

    def run(estimate: str) -> dict[str, str]:
        return words(text(tiny(options, ("count = 2\n", f'count = 2\nestimate = "{estimate}"\n')), policies), "run")[0]

    assert run("miss")["miss-weight"] == run("spand")["spand-lower-bound"] == "1"
    assert {"miss-weight", "spand-lower-bound"}.isdisjoint(run("js"))


def test_traffic_carries_its_rate(tiny: Tiny, policies: Policies) -> None:
    more = '[[traffic]]\nkind = "cbr"\nto = 1\nrate = "1 Mb/s"\npackets = { "210 B" = 1 }\n'
    (source,) = words(text(tiny(more=more), policies), "traffic")
    found = re.fullmatch(r"(\d+):1\.0", source["sizes"])
    assert found is not None
    # By the paper: 210 bytes at 1 Mb/s are 595 packets a second.
    on_the_link = int(found[1]) + 2
    assert int(source["rates"].partition(":")[2]) / (8 * on_the_link) == pytest.approx(1e6 / (8 * 210), rel=0.005)


def test_traffic_of_each_hop_crosses_one_each(tiny: Tiny, policies: Policies) -> None:
    chain = (('"dumbbell"', '"chain"\nhops = 3'), ("to = 1", "to = 3"))
    more = '[[traffic]]\nkind = "poisson"\ncount = 2\nat = "router"\neach_hop = true\nrate = "1 Mb/s"\n'
    sources = words(text(tiny(*chain, more=more), policies), "traffic")
    assert [(each["from"], each["to"]) for each in sources] == [
        (f"r{hop}", f"r{hop + 1}") for hop in range(3) for _ in range(2)
    ]
