// SPDX-License-Identifier: BSD-2-Clause-Patent
// host_cost LIBRARY BYTES...: instructions of the processor that a program spends in libdownbeat for a send and a
// receive, counted by single steps (ptrace). The device is `sim:`, whose wire leads back to it. JSON on standard
// output.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "downbeat.h"
#include "downbeat_sim.h"
#include "mirror.h"

namespace {

constexpr std::uint32_t otherIp = 0x0a000002;
constexpr std::uint16_t port = 5001;
constexpr downbeat_time step = DOWNBEAT_NANOSECONDS(2000);

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "host_cost: %s: %s\n", what, downbeat_problem());
  std::_Exit(1);
}

/// The program that is watched: what is between two stops is counted.
class Program {
public:
  Program(const std::string &library, const std::vector<std::size_t> &sizes) : sizes_(sizes) {
    if (downbeat_open(("sim:" + library).c_str(), &device_) != 0) fail("open");
    downbeat_listener *listener = nullptr;
    if (downbeat_listen(device_, port, 1, nullptr, nullptr, &listener) != 0) fail("listen");
    until([&] { return downbeat_listening(listener) == 0; });
    downbeat_options options{};
    options.parameters.no_delay = 1; // the last piece of a transfer waits for no ACK
    if (downbeat_connect(device_, otherIp, port, 0, &options, &out_) != 0) fail("connect");
    until([&] { return downbeat_accept(listener, &in_) == 0; });
    // The window opens.
    for (int each = 0; each < 20; ++each) transfer(sizes_.back(), [](auto &&call) { call(); });
  }

  void measure() {
    const auto counted = [](auto &&call) {
      raise(SIGSTOP);
      call();
      raise(SIGSTOP);
    };
    counted([] {});
    for (const std::size_t size : sizes_) transfer(size, counted);
  }

private:
  template <typename Counted> void transfer(std::size_t size, Counted &&counted) {
    std::vector<std::uint8_t> data(size);
    std::int64_t taken = 0, given = 0;
    counted([&] { taken = downbeat_send(out_, data.data(), size); });
    if (taken != static_cast<std::int64_t>(size)) fail("send");
    // All of it comes before the program looks.
    for (int each = 0; each < 1000; ++each) pass();
    downbeat_item items[4];
    counted([&] {
      downbeat_poll(device_, items, 4);
      given = downbeat_receive(in_, data.data(), size);
    });
    if (given != taken) fail("receive");
    until([&] { return true; });
  }
  void pass() {
    downbeat_sim_advance_to(device_, downbeat_sim_now(device_) + step);
    std::uint8_t frame[2048];
    downbeat_time departure = 0;
    for (std::int64_t length; (length = downbeat_sim_get_frame(device_, frame, sizeof frame, &departure)) > 0;) {
      mirror_.reflect(frame, static_cast<std::size_t>(length));
      downbeat_sim_put_frame(device_, frame, static_cast<std::size_t>(length), departure + step);
    }
  }
  void until(const std::function<bool()> &holds) {
    downbeat_item items[16];
    do {
      pass();
      while (downbeat_poll(device_, items, 16) > 0) {}
    } while (!holds());
  }

  const std::vector<std::size_t> &sizes_;
  downbeat_device *device_ = nullptr;
  downbeat_connection *out_ = nullptr, *in_ = nullptr;
  downbeat::Mirror mirror_{{0x0a000001, 0xffffff00, 0, 0x020000000001}, otherIp};
};

/// Instructions up to the child's next stop.
std::uint64_t count(pid_t child, bool single) {
  std::uint64_t steps = 0;
  for (;; ++steps) {
    int status = 0;
    if (ptrace(single ? PTRACE_SINGLESTEP : PTRACE_CONT, child, nullptr, nullptr) != 0 ||
        waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status))
      std::exit(1);
    if (WSTOPSIG(status) == SIGSTOP) return steps;
  }
}

} // namespace

int main(int arguments, char **values) {
  if (arguments < 3) return std::fputs("host_cost LIBRARY BYTES...\n", stderr), 2;
  std::vector<std::size_t> sizes;
  for (int each = 2; each < arguments; ++each) sizes.push_back(std::strtoull(values[each], nullptr, 0));
  const std::size_t sections = 1 + 2 * sizes.size(); // the first is empty
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    Program program(values[1], sizes);
    program.measure();
    std::_Exit(0);
  }
  std::vector<std::uint64_t> found(sections);
  int status = 0;
  for (std::size_t each = 0; each < sections; ++each) {
    if (each == 0) {
      if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) return 1;
    } else {
      count(child, false);
    }
    found[each] = count(child, true);
  }
  kill(child, SIGKILL);
  for (std::size_t each = 0; each < sizes.size(); ++each)
    std::printf(R"(%s{"bytes":%zu,"send_instructions":%llu,"receive_instructions":%llu}%s)", each == 0 ? "[" : ",",
                sizes[each], static_cast<unsigned long long>(found[1 + 2 * each] - found[0]),
                static_cast<unsigned long long>(found[2 + 2 * each] - found[0]), each + 1 == sizes.size() ? "]\n" : "");
  return 0;
}
