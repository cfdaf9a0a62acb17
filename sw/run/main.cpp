// SPDX-License-Identifier: BSD-2-Clause-Patent
// downbeat-run: a program whose TCP goes over the core. Three processes: the front, the supervisor, the program.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "filter.h"
#include "front.h"
#include "messages.h"
#include "report.h"
#include "supervisor.h"

namespace {

using namespace downbeat;

struct Arguments {
  std::string device = "simd:/run/downbeat/nic.sock";
  downbeat_parameters parameters{};
  char **program = nullptr;
};

constexpr const char *usage =
    "downbeat-run [--device URI] [--startup P] [--steady P] [--startup-argument BITS] [--steady-argument BITS] "
    "-- PROGRAM [ARGUMENTS]\n";

/// Hexadecimal digits after 0x; the low word first.
void readArgument(const std::string &text, std::uint64_t (&words)[2]) {
  constexpr std::size_t wordDigits = 16;
  const std::string digits = text.starts_with("0x") ? text.substr(2) : "";
  if (digits.empty() || digits.size() > 2 * wordDigits ||
      digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    fail("'" + text + "' is not an argument: write 0x and at most 32 hexadecimal digits");
  const std::size_t high = digits.size() > wordDigits ? digits.size() - wordDigits : 0;
  words[0] = std::stoull(digits.substr(high), nullptr, 16);
  words[1] = high != 0 ? std::stoull(digits.substr(0, high), nullptr, 16) : 0;
}

Arguments parse(int count, char **values) {
  static const ::option names[] = {{"device", 1, nullptr, 'd'},          {"startup", 1, nullptr, 's'},
                                   {"steady", 1, nullptr, 't'},          {"startup-argument", 1, nullptr, 'u'},
                                   {"steady-argument", 1, nullptr, 'v'}, {nullptr, 0, nullptr, 0}};
  Arguments arguments;
  for (int name; (name = getopt_long(count, values, "+", names, nullptr)) >= 0;) {
    switch (name) {
    case 'd': arguments.device = optarg; break;
    case 's': arguments.parameters.startup = optarg; break;
    case 't': arguments.parameters.steady = optarg; break;
    case 'u': readArgument(optarg, arguments.parameters.startup_argument); break;
    case 'v': readArgument(optarg, arguments.parameters.steady_argument); break;
    default: fail(usage);
    }
  }
  if (optind >= count) fail(usage);
  arguments.program = values + optind;
  return arguments;
}

/// Waits until the device is open, and becomes the program under the filter.
[[noreturn]] void become(char **program, const File &supervisor) {
  char begin;
  if (!receiveMessage(supervisor.get(), &begin, sizeof begin)) std::_Exit(126);
  File calls = installFilter();
  const int error = errno, passed = calls.get();
  sendMessage(supervisor.get(), &error, sizeof error, calls ? std::span(&passed, 1) : std::span<const int>{});
  if (!calls) std::_Exit(126);
  calls.reset();
  execvp(program[0], program);
  const int problem = errno;
  std::fprintf(stderr, "downbeat run: %s: %s\n", program[0], std::strerror(problem));
  std::_Exit(problem == ENOENT ? 127 : 126); // as a shell says it
}

/// The process group, session and terminal stay the program's; SIGCHLD comes by the descriptor.
File leaveTerminal() {
  setsid();
  signal(SIGPIPE, SIG_IGN);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max; // two for each connection
  setrlimit(RLIMIT_NOFILE, &files);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  // The program's streams end with the program.
  const File nothing(open("/dev/null", O_RDWR));
  for (const int stream : {0, 1, 2}) dup2(nothing.get(), stream);
  return File(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
}

bool readsMemoryOf(pid_t process) {
  char byte;
  const iovec own{&byte, 1}, other{const_cast<char *>(usage), 1}; // it has this program's memory until its exec
  return process_vm_readv(process, &own, 1, &other, 1, 0) == 1;
}

/// The supervisor's life, in the child process.
[[noreturn]] void supervise(const Arguments &arguments, File front) {
  prctl(PR_SET_CHILD_SUBREAPER, 1); // ancestors alone may look into a process (ptrace(2), Yama)
  int ends[2];
  Report report;
  const auto refuse = [&](const std::string &problem) {
    report.kind = ReportKind::problem;
    std::snprintf(report.problem, sizeof report.problem, "%s", problem.c_str());
    sendMessage(front.get(), &report, sizeof report);
    std::_Exit(1);
  };
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) refuse("no socket pair");
  File program(ends[0]), other(ends[1]);
  const pid_t started = fork();
  if (started == 0) {
    front.reset();
    program.reset();
    become(arguments.program, other);
  }
  other.reset();
  downbeat_device *device = nullptr;
  if (downbeat_open(arguments.device.c_str(), &device) != DOWNBEAT_OK) refuse(downbeat_problem());
  if (downbeat_descriptor(device) < 0) refuse(arguments.device + ": the device has no interrupt");
  if (!readsMemoryOf(started)) refuse("no access to the program: set kernel.yama.ptrace_scope to 0 or 1, or be root");
  Leg leg;
  if (!leg.open()) refuse("no way to 127.0.0.0/8: set the loopback interface up (ip link set lo up)");
  int error = 0;
  std::vector<File> calls;
  if (!sendMessage(program.get(), "", 1) || !receiveMessage(program.get(), &error, sizeof error, &calls))
    refuse("the program ended at once");
  File filter = calls.empty() ? File() : std::move(calls.front());
  if (!filter)
    refuse(std::string("no seccomp filter with notifications (Linux 5.14, not in another such filter): ") +
           std::strerror(error));
  report.kind = ReportKind::started;
  report.program = started;
  sendMessage(front.get(), &report, sizeof report);
  program.reset();
  File children = leaveTerminal();
  downbeat_options options{};
  options.parameters = arguments.parameters;
  Supervisor(device, std::move(leg), std::move(filter), std::move(front), std::move(children), started, options).run();
  downbeat_release(device);
  std::_Exit(0);
}

} // namespace

int main(int count, char **values) {
  const Arguments arguments = parse(count, values);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail("no socket pair");
  File front(ends[0]), supervisor(ends[1]);
  prctl(PR_SET_CHILD_SUBREAPER, 1); // if the supervisor dies
  const sigset_t passed = passedSignals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &passed, &before);
  if (fork() == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    supervisor.reset();
    supervise(arguments, std::move(front));
  }
  front.reset();
  beFront(std::move(supervisor));
}
