#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# linux_pacing.sh CAPTURE: as root, five seconds of Linux TCP over a virtual cable, paced by SO_MAX_PACING_RATE at 12.5
# MB/s.
# `downbeat gap capture CAPTURE --paced 100Mb/s` judges the capture. Namespaces and cable go when the script ends.
set -euo pipefail
capture=${1:?usage: linux_pacing.sh CAPTURE}
send=downbeat-send-$$ receive=downbeat-receive-$$
trap 'kill $(jobs -p) 2>/dev/null || true; ip netns delete $send; ip netns delete $receive' EXIT

ip netns add $send
ip netns add $receive
ip -n $send link add v0 type veth peer name v1 netns $receive
ip -n $send link set v0 gso_max_segs 1 up
ip -n $receive link set v1 up
ip -n $send address add 10.9.0.1/24 dev v0
ip -n $receive address add 10.9.0.2/24 dev v1

ip netns exec $receive dumpcap -q -i v1 -s 96 -w "$capture" &
ip netns exec $receive python3 -c '
import socket
connection, _ = socket.create_server(("10.9.0.2", 5001)).accept()
while connection.recv(1 << 20): pass' &
sleep 1
ip netns exec $send python3 -c '
import socket, time
connection = socket.socket()
connection.setsockopt(socket.SOL_SOCKET, 47, 12_500_000)  # SO_MAX_PACING_RATE, bytes/s
connection.connect(("10.9.0.2", 5001))
end = time.monotonic() + 5
while time.monotonic() < end: connection.send(bytes(65536))'
sleep 1
