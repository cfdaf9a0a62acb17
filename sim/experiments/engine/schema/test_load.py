# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A wrong file is refused before anything runs, in a sentence with the file, the key and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from downbeat_toe.refused import Refused

from sim.experiments.engine.schema.checks import Policies
from sim.experiments.engine.schema.load import load
from sim.experiments.names import FILES

Tiny = Callable[..., Path]


def test_a_cell_for_each_value_of_the_axes(tiny: Tiny, policies: Policies) -> None:
    file = load(tiny(), policies)
    assert [cell.names for cell in file.cells] == [{"rate": "2 Mb/s"}, {"rate": "4 Mb/s"}]
    assert [cell.experiment.topology.link.rate for cell in file.cells] == [2_000_000, 4_000_000]


def test_published_values_of_the_full_form_alone_are_left_out_of_the_quick_one(tiny: Tiny, policies: Policies) -> None:
    path = tiny(("value = 2\n", "value = 2\nfull = true\n"), ('"4 Mb/s"]\n', '"4 Mb/s"]\n[full]\n"run.seeds" = 2\n'))
    forms = [load(path, policies, full).experiment for full in (False, True)]
    assert [len(form.published) for form in forms] == [0, 1]


PAIRS = '[[pairs]]\nlabel = "p"\nto = 1\ngaps = ["8 ms", "20 ms"]\nevery = "1 s"\n\n'


def traffic(packets: str) -> str:
    return f'[[traffic]]\nkind = "cbr"\nto = 1\nrate = "1 Mb/s"\npackets = {{ {packets} }}\n\n[[published]]'


def plot(keys: str) -> str:
    return f'[[plot]]\ntitle = "p"\nmetric = "window"\n{keys}\n\n[[table]]'


@pytest.mark.parametrize(
    ("old", "new", "where", "allowed"),
    [
        ('label = "a"', 'lable = "a"', "flow.1.lable: no such key; do you mean label?", "startup"),
        ('title = "Two', 'titel = "Two', "titel: no such key; do you mean title?", "topology"),
        ('delay = "10 ms"', "delay = 10", "topology.link.delay: 10: write it with its unit", "40 ms"),
        ('delay = "10 ms"', 'delay = "10 kB"', "topology.link.delay: '10 kB' is not a time", "40ms"),
        ('duration = "2 s"', 'duration = "2 s"\nwarm_up = "2 s"', "run: warm_up is as long as the run", "shorter"),
        ('duration = "2 s"', 'duration = "2 s"\nmeasure = "3 s"', "run: measure is as long as the run", "shorter"),
        ('duration = "2 s"', 'duration = "2 Mb/s"', "run.duration: '2 Mb/s' is not a time", "40ms"),
        ('size = "20 packets"', 'size = "20"', "topology.link.queue.size: '20' has no unit", "50 packets"),
        ('kind = "dumbbell"', 'kind = "ring"', "topology.kind: Input should be 'dumbbell', 'chain'", "'star'"),
        ('kind = "dumbbell"', 'kind = "dumbbell"\nhops = 2', "topology: a dumbbell has one link", "chain"),
        ('kind = "dumbbell"', 'kind = "chain"', "topology: a chain needs hops = 2", "or more"),
        ('kind = "dumbbell"', 'kind = "transit-stub"', "topology: stubs are of kind = 'transit-stub'", "needs them"),
        ("to = 1", "to = 3", "flow from 0 to 3: this dumbbell has routers 0 to 1", "use two of them"),
        ("count = 2", "count = -1", "flow.1.count: Input should be greater than or equal to 0", ""),
        ("count = 2", 'estimated_by = "bwe"', "estimated_by = 'bwe' needs trace", "ssthresh"),
        ("count = 2", "estimated_after = 4", "estimated_after is of a rate", "'bwe' or 'ere'"),
        ("count = 2", 'sender = "ns-3"\ntrace = true', "trace is a core's", "leave it out"),
        ("count = 2", 'steady = "bbr"', "flow 'a': steady: no congestion policy 'bbr' in this build", "reno, aimd"),
        ("count = 2", 'steady = "aimd"\nsteady_argument = "b=2"', "'b=2' is not an argument", "a from"),
        ("count = 2", 'sender = "ns-3"\nsteady = "reno"', "are a core's", "sender = 'core'"),
        ("count = 2", 'rounds = { count = 3, gap = "1 s" }', "rounds need a transfer", ""),
        (
            "[axes]",
            "[axes]\nrtt = [1]",
            "axes.rtt: results have a column or the file a table of that name",
            "use another",
        ),
        ("count = 2", 'hosts = 2\nhost = "x"', "host names one receiver", "use one of the two"),
        ('"$rate"', '"$speed"', "$speed: no such axis", "$rate"),
        ('over = { rate = "2', 'over = { rate = "3', "axis rate has no '3 Mb/s'", "2 Mb/s, 4 Mb/s"),
        ('mark = "1 s"', 'mark = "3 s"', "packets_at needs a mark that run.marks has", ""),
        ('size = "30 kB"', 'size = "31 kB"', "seconds_to needs a size that run.sizes has", ""),
        (
            'metric = "packets_at"',
            'metric = "seconds_to_window"',
            "seconds_to_window needs reached, packets",
            "run.sample",
        ),
        ('metric = "packets_at"', 'metric = "inverted_share"', "inverted_share needs trace = true", "measures"),
        ("[[published]]", f"{PAIRS}[[published]]\nlabel = 'p'", "'p' are pairs: their metric is arrival_gap", ""),
        ("[[published]]", traffic("'big' = 1"), "traffic.1: 'big' is not a size", "64 KiB"),
        ("[[published]]", traffic("'1 kB' = 0"), "packets: '1 kB' has the weight 0", "above 0"),
        ("[[published]]", traffic(""), "traffic.1.packets: Dictionary should have at least 1 item", ""),
        (
            "[[published]]",
            traffic("'1 kB' = 1").replace("to = 1", "each_hop = true"),
            "each_hop is for a chain",
            "hops",
        ),
        ("[[published]]", traffic("'1 kB' = 1").replace("to = 1", "to = 1\neach_hop = true"), "each_hop says", "out"),
        ("[[published]]", f"{PAIRS.replace('1 s', '20 ms')}[[published]]", "pairs.1: every is the mean time", "twice"),
        ("[[table]]", plot('x = "speed"'), "plot.1: no axis 'speed'", "use rate"),
        ("[[table]]", plot('x = "rate"\nby = "rate"\namong = ["x"]'), "plot.1: axis rate has no 'x'", "2 Mb/s, 4 Mb/s"),
        ("[[table]]", plot('x = "rate"\nlink = 1'), "link = 1: this dumbbell has links 0 to 0", ""),
        ("[[table]]", plot('x = "rate"\nseries = "marks"'), "series = 'marks' is over mark", "write x = 'mark'"),
        ("[[table]]", plot('x = "rate"\nseries = "window"'), "series = 'window' is over time", "write x = 'time'"),
        ('"30 kB", "60 kB"', '"60 kB", "30 kB"', "sizes: list them in rising order", "once"),
        ('rows = ["rate"]', 'rows = ["rate"]\neach = "rate"', "each: 'rate' is one of rows already", "another axis"),
        ('rows = ["rate"]', 'rows = ["speed"]', "table 1: no axis 'speed'", "rate"),
        (
            "value = 2",
            'label = "a"\nagainst = "b"\nvalue = 2',
            "against divides the measure of label",
            "leave over out",
        ),
        ('over = { rate = "2 Mb/s" }\nv', 'label = "a"\nagainst = "b"\nv', "no flow has the label 'b'", "use a"),
        ("value = 2\n", "", "give one of value, between", "order"),
        ('value = 2\ntolerance = "20 %"', "between = [3, 1]", "between: write the lower bound first", ""),
        ('"20 %"', '"some"', "published.1.tolerance: 'some' is not a tolerance", "15 %"),
        ('"20 %"', "-1", "published.1.tolerance: -1 is not a tolerance", "15 %"),
        ('metric = "packets_at"', 'metric = "speed"', "published.1.metric: Input should be 'packets_at'", "throughput"),
        ('name = "tiny"', 'name = "small"', "name: 'small' is not the file's", "tiny"),
        ('title = "Two Renos"', 'title = "Two Renos', "not TOML", "line"),
        ('[axes]\nrate = ["2 Mb/s", "4 Mb/s"]', "axes = 3", "axes: use a table", "[axes]"),
        ('title = "Two Renos"', 'title = "Two Renos"\nvary = 3', "vary: use a table", "[vary]"),
        ('title = "Two Renos"', 'title = "Two Renos"\npairs = 3', "pairs: use a list", "[[pairs]]"),
        ("[[flow]]", '[[flow]]\nsteady = "logistic"', "logistic without K", "run.preset = 'sim'"),
    ],
)
def test_a_wrong_file_is_refused(old: str, new: str, where: str, allowed: str, tiny: Tiny, policies: Policies) -> None:
    path = tiny((old, new))
    with pytest.raises(Refused) as refused:
        load(path, policies)
    said = str(refused.value)
    assert said.startswith(f"{path}: ") and where in said and allowed in said


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ('x = "time"\nseries = "throughput"', "series = 'throughput'"),
        ('x = "rate"\nmetric = "throughput"\nbegin = "1 s"', "throughput over a part of the run"),
    ],
)
def test_what_is_read_from_samples_needs_them(keys: str, what: str, tiny: Tiny, policies: Policies) -> None:
    metric = "" if "metric" in keys else 'metric = "window"\n'
    path = tiny(('sample = "100 ms"\n', ""), more=f'[[plot]]\ntitle = "p"\n{metric}{keys}\n')
    with pytest.raises(Refused, match=f"{what} needs samples: set run.sample"):
        load(path, policies)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path, policies: Policies) -> None:
    with pytest.raises(Refused, match=r"none\.toml: No such file"):
        load(tmp_path / "none.toml", policies)
    with pytest.raises(Refused, match=r"do you mean sim/experiments/papers/ours/cubic\.toml"):
        load(Path("cubic"), policies)


def test_a_binary_file_is_refused(tmp_path: Path, policies: Policies) -> None:
    (tmp_path / "x.toml").write_bytes(b"\xd4\xc3\xb2\xa1")
    with pytest.raises(Refused, match=r"x\.toml: not a file of an experiment"):
        load(tmp_path / "x.toml", policies)


def test_the_full_form_replaces_what_it_names(tiny: Tiny, policies: Policies) -> None:
    path = tiny(more='[full]\n"run.duration" = "60 s"\n"axes.rate" = ["2 Mb/s", "4 Mb/s", "8 Mb/s"]\n')
    assert load(path, policies).experiment.run.duration == 2 * 10**9
    full = load(path, policies, full=True)
    assert full.experiment.run.duration == 60 * 10**9 and len(full.cells) == 3
    with pytest.raises(Refused, match=r"rnu\.seeds: the file has no table rnu"):
        load(tiny(more='[full]\n"rnu.seeds" = 2\n'), policies, full=True)
    assert load(path, policies, duration="5 s").experiment.run.duration == 5 * 10**9


OTHER = 'base = "tiny"\nname = "other"\ntitle = "Other"\nsource = "Ours"\n'


def test_a_file_with_a_base_has_its_network_and_flows_but_for_what_it_gives(tiny: Tiny, policies: Policies) -> None:
    path = tiny(more='[full]\n"run.seeds" = 2\n').with_name("other.toml")
    path.write_text(OTHER + '[replace]\n"axes.rate" = ["8 Mb/s"]\n"flow.a.count" = 7\n"topology.link.delay" = "1 ms"\n')
    file = load(path, policies, full=True)
    assert file.axes == {"rate": ("8 Mb/s",)} and file.experiment.title == "Other"
    assert file.experiment.flow[0].count == 7 and file.experiment.topology.link.delay == 10**6
    assert not file.experiment.published and file.experiment.run.seeds == 1


def test_a_base_may_be_an_experiment_of_the_tree(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "cubic"\nname = "mine"\ntitle = "Mine"\nsource = "Ours"\n[replace]\n"run.seeds" = 3\n')
    file = load(path, None)
    assert file.experiment.run.seeds == 3 and file.experiment.topology.kind == "dumbbell"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (OTHER.replace("tiny", "tinny"), "base: no file tinny.toml beside this one or in sim/experiments/papers"),
        (OTHER + '[replace]\n"flow.b.count" = 7\n', "flow.b.count: the file has no table b"),
        (OTHER + '[replace]\n"flow.count" = 7\n', "flow.count: say which flow by its label"),
        (OTHER.replace("tiny", "other"), "base: 'other' has a base itself: use 'other'"),
        ('[replace]\n"run.seeds" = 2\n', "replace: there is nothing to replace without a base"),
    ],
)
def test_a_wrong_base_is_refused(text: str, says: str, tiny: Tiny, policies: Policies) -> None:
    path = tiny().with_name("other.toml")
    path.write_text(text)
    with pytest.raises(Refused) as refused:
        load(path, policies)
    assert str(refused.value).startswith(f"{path}: {says}")


def test_what_the_paper_leaves_out_is_varied_one_at_a_time(tiny: Tiny, policies: Policies) -> None:
    path = tiny(more='[vary]\n"topology.access.delay" = ["0 s", "5 ms"]\n"run.packet" = ["1500 B"]\n')
    file = load(path, policies)
    assert file.vary == (("topology.access.delay", "0 s"), ("topology.access.delay", "5 ms"), ("run.packet", "1500 B"))
    assert load(path, policies, change=file.vary[1]).experiment.topology.access.delay == 5 * 10**6
    assert file.experiment.topology.access.delay == 10**6
    with pytest.raises(Refused, match=r"vary\.run\.packet: use a list of values"):
        load(tiny(more='[vary]\n"run.packet" = "1500 B"\n'), policies)


@pytest.mark.parametrize("name", FILES)
def test_every_file_of_the_tree_is_right(name: str) -> None:
    for full in (False, True):
        file = load(FILES[name], None, full)
        for change in file.vary:
            load(FILES[name], None, full, change=change)
        assert (file.experiment.published or file.experiment.table) and file.experiment.source
