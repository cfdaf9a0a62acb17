# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Programs of socket calls: each prints over the kernel and over the core the same."""

from __future__ import annotations

import subprocess

from sw.tests.driver.process import Nic
from sw.tests.driver.programs import CORE, KERNEL, LIMIT, free_port, over_core, script

COMMON = """
import array, errno, fcntl, os, select, signal, socket, struct, subprocess, sys, termios, threading, time
from socket import *
address, port = sys.argv[1], int(sys.argv[2])
def name(error):
    return errno.errorcode.get(error, str(error))
def tried(call, *values):
    try:
        return call(*values)
    except OSError as error:
        return name(error.errno)
def options(end, *wanted):
    return [end.getsockopt(*each) for each in wanted]
def pair():
    listener = create_server((address, port))
    client = create_connection((address, port))
    return listener, client, listener.accept()[0]
def received(end, count):
    data = b""
    while len(data) < count and (part := end.recv(count - len(data))):
        data += part
    return data
def seen(poll, count):
    events = []
    for _ in range(40):
        events += poll.poll(0.5 if not events else 0.05)
        if events and events[-1][1] & count:
            break
    return events[-1][1]
def times(seconds):
    return struct.pack("ll", int(seconds), int(seconds % 1 * 1e6))
def wide():
    rows = [row.split() for table in ("tcp", "tcp6") for row in open("/proc/net/" + table).readlines()[1:]]
    return any(row[3] == "0A" and row[1].strip("0") == f":{port:04X}".rstrip("0") for row in rows)
"""
SET = "(SOL_SOCKET, SO_KEEPALIVE), (SOL_SOCKET, SO_RCVLOWAT), (IPPROTO_TCP, TCP_NODELAY), (IPPROTO_TCP, TCP_KEEPIDLE), \
(IPPROTO_TCP, TCP_KEEPCNT), (IPPROTO_TCP, TCP_USER_TIMEOUT), (SOL_SOCKET, SO_LINGER, 8), (SOL_SOCKET, SO_RCVTIMEO, 16)"
DRESS = """
def dress(end):
    for level, what, value in (
        (SOL_SOCKET, SO_KEEPALIVE, 1), (IPPROTO_TCP, TCP_NODELAY, 1), (IPPROTO_TCP, TCP_KEEPIDLE, 77),
        (IPPROTO_TCP, TCP_KEEPCNT, 3), (IPPROTO_TCP, TCP_USER_TIMEOUT, 9000), (SOL_SOCKET, SO_RCVLOWAT, 3),
        (SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 5)), (SOL_SOCKET, SO_RCVTIMEO, times(0.1)),
    ):
        end.setsockopt(level, what, value)
"""
PROGRAMS = {
    "options before connect hold": DRESS
    + f"""
listener = create_server((address, port))
client = socket()
dress(client)
client.connect((address, port))
print(options(client, {SET}), tried(client.recv, 1))
""",
    "options after connect": DRESS
    + f"""
ends = pair()
for end in ends[1:]:
    dress(end)
    print(options(end, {SET}))
    for level, what in ((SOL_SOCKET, SO_KEEPALIVE), (IPPROTO_TCP, TCP_KEEPIDLE), (IPPROTO_TCP, TCP_USER_TIMEOUT)):
        print([tried(end.setsockopt, level, what, value) for value in (0, -1, 40000, b"", b"ab", b"abcdefgh")])
        print(options(end, {SET}))
ends[1].sendall(b"goes on")
print(received(ends[2], 7))
""",
    "accepted sockets inherit": DRESS
    + f"""
listener = socket()
dress(listener)
listener.bind((address, port))
listener.listen()
print(tried(listener.accept))
client = create_connection((address, port))
accepted, _ = listener.accept()
print(options(accepted, {SET}), tried(accepted.recv, 1))
""",
    "a duplicate of a bound socket listens": """
bound = socket()
bound.bind((address, port))
os.dup2(bound.fileno(), 50)
bound.close()
listener = socket(fileno=50)
listener.listen()
client = create_connection((address, port))
print(wide(), listener.getsockname()[0], listener.accept()[0].getsockname() == client.getpeername())
""",
    "a bound socket listens behind exec": """
if len(sys.argv) == 3:
    bound = socket()
    bound.bind((address, port))
    bound.set_inheritable(True)
    own = open("/proc/self/cmdline").read().split("\\0")[:5]
    os.execv(sys.executable, [*own, str(bound.fileno())])
listener = socket(fileno=int(sys.argv[3]))
listener.listen()
client = create_connection((address, port))
print(wide(), listener.getsockname()[0], listener.accept()[0].getsockname() == client.getpeername())
""",
    "a bound socket listens in another process": """
here, there = socketpair(AF_UNIX)
bound = socket()
bound.bind((address, port))
if os.fork() == 0:
    (descriptor,) = recv_fds(there, 1, 1)[1]
    listener = socket(fileno=descriptor)
    listener.listen()
    there.send(b"!")
    accepted, peer = listener.accept()
    send_fds(there, [b"!"], [accepted.fileno()])
    os._exit(0)
send_fds(here, [b"!"], [bound.fileno()])
bound.close()
here.recv(1)
client = create_connection((address, port))
accepted = socket(fileno=recv_fds(here, 1, 1)[1][0])
accepted.sendall(b"passed")
print(wide(), client.recv(10), accepted.getpeername() == client.getsockname(), os.wait()[1])
""",
    "a closed descriptor is bound no more": """
bound = socket()
bound.bind((address, port))
number = bound.detach()
os.closerange(number, number + 1)
other = socket()
print(other.fileno() == number, tried(other.bind, (address, port)), tried(other.listen), wide())
""",
    "epoll before a connect that does not block": """
listener = create_server((address, port))
client = socket()
client.setblocking(False)
poll = select.epoll()
poll.register(client, select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET)
poll.poll(0)
print(name(client.connect_ex((address, port))), seen(poll, select.EPOLLOUT))
accepted, _ = listener.accept()
accepted.sendall(b"data")
print(seen(poll, select.EPOLLIN), client.recv(10), tried(poll.modify, client, select.EPOLLIN))
accepted.close()
print(seen(poll, select.EPOLLIN), client.recv(10))
""",
    "epoll before a connect that is refused": """
client = socket()
client.setblocking(False)
poll = select.epoll()
poll.register(client, select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP)
poll.poll(0)
print(name(client.connect_ex((address, port))))
while not select.EPOLLRDHUP & (events := poll.poll(5)[0][1]): pass  # the last of them, by a moment
print(events, [name(client.getsockopt(SOL_SOCKET, SO_ERROR)) for _ in range(2)], tried(client.getpeername))
""",
    "connect again": """
listener = create_server((address, port))
client = socket()
client.setblocking(False)
first = client.connect_ex((address, port))
select.select([], [client], [], 5)
print(name(first), [name(client.connect_ex((address, port))) for _ in range(3)])
client = create_connection((address, port))
print(name(client.connect_ex((address, port))))
listener.close()
refused = socket()
print([name(refused.connect_ex((address, port))) for _ in range(2)], refused.getsockopt(SOL_SOCKET, SO_ERROR))
listener = create_server((address, port))
print(name(refused.connect_ex((address, port))))
""",
    "signals interrupt accept and recv": """
class Alarm(Exception): pass
def ring(number, frame):
    raise Alarm
signal.signal(signal.SIGALRM, ring)
listener, client, accepted = pair()
for call in (listener.accept, lambda: client.recv(1)):
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        call()
    except Alarm:
        print("interrupted")
accepted.sendall(b"later")
create_connection((address, port))
print(client.recv(10), listener.accept()[1][0])
""",
    "accept begins again behind a signal": """
import ctypes
signal.signal(signal.SIGALRM, lambda number, frame: None)
signal.siginterrupt(signal.SIGALRM, False)
listener = create_server((address, port))
threading.Timer(0.4, lambda: create_connection((address, port))).start()
signal.setitimer(signal.ITIMER_REAL, 0.1)
print(ctypes.CDLL(None).accept(listener.fileno(), None, None) > 0)
""",
    "a port is free at once behind an accept that a signal ends": """
import ctypes
signal.signal(signal.SIGUSR1, lambda number, frame: None)
signal.siginterrupt(signal.SIGUSR1, True)
found = []
for count in range(10):
    if isinstance(listener := tried(create_server, (address, port)), str):
        found.append(listener)
        continue
    number = listener.detach()
    thread = threading.Thread(target=lambda: found.append(ctypes.CDLL(None).accept(number, None, None)))
    thread.start()
    time.sleep(0.02)
    os.close(number)
    signal.pthread_kill(thread.ident, signal.SIGUSR1)
    thread.join()
    if count % 2:
        found.append(name(socket().connect_ex((address, port))))
print(found)
""",
    "shutdown of reading, then data": """
listener, client, accepted = pair()
client.shutdown(SHUT_RD)
accepted.sendall(b"hello")
time.sleep(0.2)
client.sendall(b"after")
print(received(accepted, 5), client.recv(100))
client.shutdown(SHUT_WR)
print(accepted.recv(10))
""",
    "linger 0 resets": """
listener, client, accepted = pair()
client.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
client.close()
print(tried(accepted.recv, 10), accepted.recv(10))
""",
    "a close with bytes unread resets behind the end": """
listener, client, accepted = pair()
accepted.sendall(b"unread")
client.shutdown(SHUT_WR)
print(accepted.recv(1), tried(select.select, [client], [], [])[0] == [client])
client.close()
poll = select.poll()
poll.register(accepted)
for _ in range(100):
    if (events := poll.poll(5000)[0][1]) & select.POLLERR: break
    time.sleep(0.02)
print(events, name(accepted.getsockopt(SOL_SOCKET, SO_ERROR)))
""",
    "linger with a time waits for the acknowledgment": """
listener = create_server((address, port))
def full(end):
    count, end_of_time = 0, time.monotonic() + 0.3
    end.setblocking(False)
    while time.monotonic() < end_of_time:
        if not isinstance(sent := tried(end.send, bytes(100000)), str):
            count += sent
    return count
def drain(end):
    count = 0
    while part := end.recv(100000):
        count += len(part)
    got.append(count)
for seconds, later in ((9, 0), (9, 0.6), (1, 2.5)):
    client, got = create_connection((address, port)), []
    accepted = listener.accept()[0]
    client.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, seconds))
    count = full(client)
    reads = threading.Timer(later, drain, (accepted,))
    reads.start()
    begin = time.monotonic()
    client.close()
    took = time.monotonic() - begin
    reads.join()
    print(min(later, seconds) - 0.1 < took < 2.4 or took, got == [count] or (got, count))
""",
    "names": """
listener, client, accepted = pair()
print(client.getpeername() == (address, port) == accepted.getsockname(), client.getsockname() == accepted.getpeername())
print(client.getsockname()[0], listener.getsockname() == (address, port))
accepted.sendall(b"x")
print(client.recvfrom(1))
import ctypes
length = ctypes.c_uint32(4)
place = (ctypes.c_char * 4)()
print(ctypes.CDLL(None).getpeername(client.fileno(), place, ctypes.byref(length)), length.value, place.raw[:2])
any_port = socket()
any_port.bind((address, 0))
print(any_port.getsockname()[0], any_port.getsockname()[1] > 1023)
""",
    "no identity crosses the network": """
listener, client, accepted = pair()
print(struct.unpack("iii", accepted.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)))
print(options(accepted, (SOL_SOCKET, SO_DOMAIN), (SOL_SOCKET, SO_TYPE), (SOL_SOCKET, SO_PROTOCOL)))
""",
    "ports are shared as Linux shares them": """
first, second = socket(), socket()
first.bind((address, port)); first.listen()
print(tried(second.bind, (address, port)))
first.close()
ends = [socket() for _ in range(2)]
for end in ends:
    end.setsockopt(SOL_SOCKET, SO_REUSEPORT, 1)
    end.bind((address, port)); end.listen()
clients = [create_connection((address, port)) for _ in range(3)]
time.sleep(0.2)
got = 0
for end in ends:
    end.setblocking(False)
    while not isinstance(tried(end.accept), str):
        got += 1
print(got)
""",
    "a listener beside the kernel's on the same port": """
other = create_server(("127.0.0.7", port))
listener, client, accepted = pair()
beside = create_connection(("127.0.0.7", port))
print(beside.getpeername() == ("127.0.0.7", port), other.accept()[1] == beside.getsockname())
""",
    "unknown options are refused": """
client = socket()
print(tried(client.setsockopt, IPPROTO_TCP, 12345, 1), tried(client.setsockopt, IPPROTO_TCP, 31, b"none-such"))
""",
    "sendfile and splice of 2 MB": """
listener, client, accepted = pair()
data = os.urandom(1 << 20) * 2
path = os.memfd_create("file")
os.write(path, data)
def send():
    sent = 0
    while sent < len(data):
        sent += os.sendfile(accepted.fileno(), path, sent, len(data) - sent)
    reads, writes = os.pipe()
    os.lseek(path, 0, 0)
    while count := os.splice(path, writes, 65536):
        while count:
            count -= os.splice(reads, accepted.fileno(), count)
    accepted.close()
threading.Thread(target=send).start()
print(received(client, 2 * len(data)) == data * 2, client.recv(1))
""",
    "a writer of any buffer that does not block": """
listener, client, accepted = pair()
accepted.setsockopt(SOL_SOCKET, SO_SNDBUF, 1)
accepted.setblocking(False)
data = os.urandom(300000)
def send():
    sent = 0
    while sent < len(data):
        select.select([], [accepted], [])
        sent += accepted.send(data[sent:])
thread = threading.Thread(target=send)
thread.start()
print(received(client, len(data)) == data)
thread.join()
""",
    "IPv4 addresses in IPv6 sockets": """
listener = socket(AF_INET6)
listener.bind(("::ffff:" + address, port))
listener.listen()
client = socket(AF_INET6)
client.connect(("::ffff:" + address, port))
accepted, peer = listener.accept()
print(peer[0], peer == client.getsockname(), client.getpeername()[0], accepted.getsockname() == client.getpeername())
client.sendall(b"six")
print(accepted.recv(10), tried(client.connect, ("::ffff:" + address, port)))
only = socket(AF_INET6)
only.setsockopt(IPPROTO_IPV6, IPV6_V6ONLY, 1)
print(tried(only.connect, ("::ffff:" + address, port)))
""",
    "a listener on all addresses": """
listener = create_server(("", port))
ends = [create_connection((each, port)) for each in (address, "127.0.0.1")]
accepted = [listener.accept() for _ in ends]
print(sorted(each[0].getsockname()[0] for each in accepted) == sorted([address, "127.0.0.1"]))
print([peer in [end.getsockname() for end in ends] for _, peer in accepted], listener.getsockname() == ("0.0.0.0", port))
dual = create_server(("", port + 1), family=AF_INET6, dualstack_ipv6=True) if has_ipv6 else None
over = create_connection((address, port + 1))
print(dual.accept()[1][0])
""",
    "urgent data": """
listener, client, accepted = pair()
def mark(end):
    return struct.unpack("i", fcntl.ioctl(end, 0x8905, b"1234"))[0]
def urgent(end):
    poll = select.poll()
    poll.register(end, select.POLLPRI)
    return bool(poll.poll(5000))
signals = []
signal.signal(signal.SIGURG, lambda number, frame: signals.append(number))
fcntl.fcntl(accepted, fcntl.F_SETOWN, os.getpid())
print(client.send(b"before"), client.send(b"12!", MSG_OOB), client.send(b"behind"), urgent(accepted), signals != [])
print(received(accepted, 8), mark(accepted), accepted.recv(9, MSG_OOB), tried(accepted.recv, 1, MSG_OOB))
print(received(accepted, 6), mark(accepted))
client.setsockopt(SOL_SOCKET, SO_OOBINLINE, 1)
print(accepted.sendmsg([b"a", b"b"], [], MSG_OOB), accepted.send(b"c"), urgent(client), tried(client.recv, 1, MSG_OOB))
print(client.recv(9), mark(client), client.recv(1), mark(client), client.recv(9))
for _ in range(20):
    client.send(b"x" * 3000 + b"!", MSG_OOB)
    if not urgent(accepted): break
    print(len(received(accepted, 3000)), accepted.recv(1, MSG_OOB), end=" ")
client.send(b"last", MSG_OOB)
client.close()
print(received(accepted, 9), accepted.recv(1))
""",
    "queues": """
listener, client, accepted = pair()
def queue(end, which):
    return struct.unpack("i", fcntl.ioctl(end, which, b"1234"))[0]
client.sendall(b"12345")
while queue(accepted, termios.FIONREAD) < 5: pass
print(queue(accepted, termios.FIONREAD), tried(client.recv, 1, 0x2000 | MSG_DONTWAIT))
accepted.recv(5)
print(queue(accepted, termios.FIONREAD))
for _ in range(100):
    if queue(client, termios.TIOCOUTQ) == 0: break
    time.sleep(0.02)
print(queue(client, termios.TIOCOUTQ), queue(socket(), termios.TIOCOUTQ))
""",
    "a listener ends by shutdown and begins again": """
listener, client, accepted = pair()
listener.shutdown(SHUT_RD)
print(tried(listener.accept), name(socket().connect_ex((address, port))), client.send(b"x"), accepted.recv(1))
listener.listen()
print(create_connection((address, port)).getpeername()[0], tried(accepted.accept))
""",
    "a connect to no address": """
import ctypes
def none(end):
    return ctypes.CDLL(None).connect(end.fileno(), bytes(16), 16)
listener, client, accepted = pair()
print(none(client), tried(accepted.recv, 1), tried(client.getpeername))
client.connect((address, port))
print(listener.accept()[1] == client.getsockname(), none(listener), tried(listener.accept))
print(name(socket().connect_ex((address, port))), none(socket()))
""",
    "connect after an end": """
listener, client, accepted = pair()
accepted.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
accepted.close()
print(tried(client.recv, 1), [name(client.connect_ex((address, port))) for _ in range(2)])
listener.close()
refused = socket()
print(name(refused.connect_ex((address, port))), refused.getsockname()[0], tried(refused.getpeername))
""",
    "forks beside a thread that closes": """
stop = False
def spin():
    while not stop:
        tried(os.close, 999)
thread = threading.Thread(target=spin)
thread.start()
for _ in range(30):
    if (child := os.fork()) == 0:
        tried(os.close, 1000)
        os._exit(0)
    os.waitpid(child, 0)
stop = True
print("none hung")
""",
}


def sides(nic: Nic, program: str) -> list[tuple[int, str, str]]:
    """Exit code, output and errors of one of PROGRAMS over the kernel and over the core."""
    said = []
    for address, wrap in ((KERNEL, []), (CORE, over_core(nic))):
        command = [*wrap, *script(COMMON + PROGRAMS[program], address, str(free_port()))]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        said.append((done.returncode, done.stdout.replace(CORE, KERNEL), done.stderr))
    return said


def printed(nic: Nic, text: str) -> str:
    """By a program over the core, behind COMMON."""
    command = over_core(nic, *script(COMMON + text, CORE, str(free_port())))
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
