# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Configuration and key file: an error names the file, the line and what is allowed, in one line."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from downbeat_toe.driver.command import DEVICE
from downbeat_toe.gateway import keys
from downbeat_toe.gateway.command import ADMIN
from downbeat_toe.gateway.process import program
from downbeat_toe.refused import Refused

ROOT = Path(__file__).resolve().parents[3]


def check(file: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [str(program("downbeat-gateway")), "--config", str(file), "--check", *more]
    return subprocess.run(command, text=True, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[listen]\nudp = 5\n", 2, 'listen.udp: use "HOST:PORT"'),
        ('[listen]\n\nudp = "localhost"\n', 3, "numeric host"),
        ("[stores]\n", 1, "use keys, limits, listen, log, snapshot, store"),
        ('[store]\nkind = "sqlite"\n', 2, 'use "embedded" or "redis://HOST:PORT"'),
        ('[store]\nkind = "redis://127.0.0.1:6379/x"\n', 2, "/DATABASE"),
        ('[store]\nkind = "rediss://127.0.0.1:6379"\n', 2, "stunnel"),
        ("[store]\nprefixes = 0\n", 2, "from 1 to 100000000"),
        ("[store]\nprefixes = 1.5\n", 2, "whole number"),
        ('[store]\naggregate = "max"\n', 2, '"median"'),
        ("[limits]\nmessages = 5\n", 2, "limits.messages is not a key: use delay_ms"),
        ('[snapshot]\nfile = "x"\n', 2, "a path that begins with /"),
        ('[log]\nlevel = "loud"\n', 2, '"error", "info" or "debug"'),
        ("[log]\nlevel = \n", 2, ""),
        ("seconds = 3\n", 1, "is not a section"),
        ("\ufefe = 3\n", 1, "a line is [SECTION] or KEY = VALUE"),
        ('[log]\nlevel = """\n\\\u00e9"""\n', 2, "only a comment may follow"),
        ('[log] # caf\u00e9\nlevel = "caf\u00e9"\n', 2, '"error", "info" or "debug"'),
        ("[log] # caf\u00e9\n\u00e9 = 1\n", 2, "a line is [SECTION] or KEY = VALUE"),
        ('[log]\nlevel = 1"\u011a\n', 2, "only a comment may follow"),
        ("[log]\nlevel = 0\0'\u011a\n", 2, "only a comment may follow"),
        ("[log]\nlevel = 7h='7=J\u0375J\n", 2, "only a comment may follow"),
        ("[log]\nlevel = 'info\n", 2, "a value is a string of one line, or a number"),
        ("[log]\nlevel = t\n", 2, "saw 't"),
        ('["a\\nb"]\n', 1, "a section is [NAME]"),
        ("[log]\n [!]\n", 2, "a section is [NAME]"),
        ("[log]\nlevel = [}\n", 2, "a value is a string of one line, or a number"),
        ("[log]\nlevel = }\n", 2, "a value is a string of one line, or a number"),
        ("[log]\n[ [=]]\n", 2, "a section is [NAME]"),
        ("\ufeff[\n", 1, "a section is [NAME]"),
    ],
)
def test_an_error_names_file_line_and_what_is_allowed(tmp_path: Path, text: str, line: int, said: str) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text(text)
    done = check(file)
    assert done.returncode == 2 and done.stdout == ""
    assert f"{file}:{line}: " in done.stderr and said in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_example_has_every_key_with_its_default(tmp_path: Path) -> None:
    text = (ROOT / "sw" / "gateway" / "gateway.toml").read_text()
    source = (ROOT / "sw" / "gateway" / "server" / "config.cpp").read_text()
    example = tomllib.loads(text)
    assert all(f'{{"{key}",' in source for section in example.values() for key in section)
    file = tmp_path / "gateway.toml"
    file.write_text(text.replace("/etc/downbeat/gateway.keys", f"{tmp_path}/keys"))
    assert "no such file: make a key file by" in check(file).stderr
    keys.new(tmp_path / "keys")
    assert check(file).returncode == 0
    assert "use" in check(file, "--store", "mysql://x").stderr


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("key 1 abcd\n", 1, "64-HEX-DIGITS"),
        (f"key 1 {'ab' * 32}\nkey 1 {'cd' * 32}\n", 2, "twice"),
        (f"key 1 {'ab' * 32}\nkey 2 {'ab' * 32}\nkey 3 {'ab' * 32}\n", 3, "two may be valid"),
        (f"key 256 {'ab' * 32}\n", 1, "0 to 255"),
        ("deny all\n", 1, "deny REPORTER"),
    ],
)
def test_a_key_files_error_names_the_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    file, key_file = tmp_path / "gateway.toml", tmp_path / "keys"
    key_file.write_text(text)
    key_file.chmod(0o600)
    file.write_text(f'[keys]\nfile = "{key_file}"\n')
    done = check(file)
    assert done.returncode == 2 and f"{key_file}:{line}: " in done.stderr and said in done.stderr


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file, key_file = tmp_path / "gateway.toml", tmp_path / "keys"
    keys.new(key_file)
    file.write_text(f'[keys]\nfile = "{key_file}"\n')
    assert check(file).returncode == 0
    key_file.chmod(0o604)
    assert "chmod 600" in check(file).stderr


def test_rotation_keeps_two_keys_and_numbers_go_round(tmp_path: Path) -> None:
    key_file = tmp_path / "keys"
    keys.new(key_file)
    assert key_file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(Refused, match="rotate"):
        keys.new(key_file)
    assert keys.rotate(key_file) == (2, None)
    assert keys.rotate(key_file) == (3, 1)
    key_file.chmod(0o640)
    keys.deny(key_file, 9)
    assert key_file.stat().st_mode & 0o777 == 0o640, "the gateway's group still reads it"
    for _ in range(255):
        keys.rotate(key_file)
    assert keys.listed(key_file) == ["deny 9", "key 1", "key 2"]
    with pytest.raises(Refused, match="from 1"):
        keys.issue(key_file, 0)


def test_install_gives_the_unit_what_it_runs_and_leaves_a_configuration_alone(tmp_path: Path) -> None:
    make = ["make", "-s", "-C", str(ROOT / "sw" / "gateway"), "install", f"DESTDIR={tmp_path}", "PREFIX=/opt"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    subprocess.run(make, check=True, capture_output=True, env=environment)
    unit = (tmp_path / "opt/lib/systemd/system/downbeat-gateway.service").read_text()
    started = {line.partition("=")[2].split()[0] for line in unit.splitlines() if line.startswith("ExecStart")}
    assert started == {"/opt/bin/downbeat-gateway"}
    place = tmp_path / "etc" / "downbeat"
    config = place / "gateway.toml"
    own = config.read_text().replace("/etc/downbeat", str(place)).replace("127.0.0.1:4780", "192.0.2.1:4780")
    config.write_text(own)
    keys.new(place / "gateway.keys")
    command = [str(tmp_path / "opt/bin/downbeat-gateway"), "--config", str(config), "--check"]
    assert "right, with 1 keys" in subprocess.run(command, check=True, capture_output=True, text=True).stdout
    subprocess.run(make, check=True, capture_output=True, env=environment)
    assert config.read_text() == own


def test_the_unit_has_a_run_time_directory_of_its_own_which_the_defaults_name() -> None:
    """Systemd gives it to the gateway at a start and removes it at a stop: the NIC's socket is elsewhere."""
    unit = (ROOT / "sw" / "gateway" / "downbeat-gateway.service").read_text()
    directories = [line.partition("=")[2] for line in unit.splitlines() if line.startswith("RuntimeDirectory=")]
    assert len(directories) == 1
    own = Path("/run") / directories[0]
    example = tomllib.loads((ROOT / "sw" / "gateway" / "gateway.toml").read_text())
    assert Path(example["listen"]["admin"]).parent == ADMIN.parent == own
    assert f'admin = "{ADMIN}"' in (ROOT / "sw" / "gateway" / "server" / "config.h").read_text()
    assert Path(DEVICE.removeprefix("simd:")).parent != own


def test_the_units_bound_of_memory_has_the_defaults_and_as_much_again() -> None:
    """The store and the sessions may take what `megabytes` says, and a third more by the allocator."""
    unit = (ROOT / "sw" / "gateway" / "downbeat-gateway.service").read_text()
    lines = dict(line.split("=", 1) for line in unit.splitlines() if "=" in line and not line.startswith("#"))
    assert lines["MemoryMax"].endswith("M") and lines["LimitCORE"] == "0" and lines["IPAddressDeny"] == "any"
    example = tomllib.loads((ROOT / "sw" / "gateway" / "gateway.toml").read_text())
    assert int(lines["MemoryMax"].removesuffix("M")) >= 2 * example["store"]["megabytes"]


def test_the_unit_is_confined() -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = ROOT / "sw" / "gateway" / "downbeat-gateway.service"
    command = ["systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=20", str(unit)]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    if "--offline" in done.stderr or "unrecognized" in done.stderr:
        pytest.skip("this systemd-analyze cannot judge a unit that is not loaded")
    assert done.returncode == 0, done.stdout[-300:] + done.stderr  # exposure of at most 2.0 of 10
