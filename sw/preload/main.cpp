// SPDX-License-Identifier: BSD-2-Clause-Patent
// downbeat-run: a program whose TCP goes over the core. It becomes the program itself, so that its exit code, signals
// and terminal are the program's; the pump is a process beside it.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pump.h"

namespace {

using namespace downbeat;

struct Arguments {
  std::string device = "simd:/run/downbeat/nic.sock", library;
  downbeat_parameters parameters{};
  char **program = nullptr;
};

constexpr const char *usage =
    "downbeat-run [--device URI] [--startup P] [--steady P] [--startup-argument BITS] [--steady-argument BITS] "
    "[--preload FILE] -- PROGRAM [ARGUMENTS]\n";

[[noreturn]] void fail(const std::string &problem) {
  std::fprintf(stderr, "downbeat run: %s\n", problem.c_str());
  std::exit(126);
}

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
  static const option names[] = {{"device", 1, nullptr, 'd'},
                                 {"startup", 1, nullptr, 's'},
                                 {"steady", 1, nullptr, 't'},
                                 {"startup-argument", 1, nullptr, 'u'},
                                 {"steady-argument", 1, nullptr, 'v'},
                                 {"preload", 1, nullptr, 'p'},
                                 {nullptr, 0, nullptr, 0}};
  Arguments arguments;
  for (int name; (name = getopt_long(count, values, "+", names, nullptr)) >= 0;) {
    switch (name) {
    case 'd': arguments.device = optarg; break;
    case 's': arguments.parameters.startup = optarg; break;
    case 't': arguments.parameters.steady = optarg; break;
    case 'u': readArgument(optarg, arguments.parameters.startup_argument); break;
    case 'v': readArgument(optarg, arguments.parameters.steady_argument); break;
    case 'p': arguments.library = optarg; break;
    default: fail(usage);
    }
  }
  if (optind >= count) fail(usage);
  arguments.program = values + optind;
  return arguments;
}

/// Beside this program, or where libraries are installed.
std::string preloadLibrary() {
  const auto own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const auto &each : {own / "libdownbeat_preload.so", own.parent_path() / "lib" / "libdownbeat_preload.so"})
    if (std::filesystem::exists(each)) return each;
  fail("libdownbeat_preload.so is neither beside this program nor in ../lib: name it (--preload)");
}

/// What the program's environment says, or empty: then `problem` is why.
struct Ready {
  char environment[200] = {};
  char problem[300] = {};
};

/// The pump's life, in the child process.
[[noreturn]] void pumpFor(const Arguments &arguments, File program, File ready) {
  setsid();
  signal(SIGPIPE, SIG_IGN);
  Ready message;
  downbeat_device *device = nullptr;
  const std::string name = "downbeat-run-" + std::to_string(getpid());
  File control(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address;
  const socklen_t length = fill(address, std::string(1, '\0') + name);
  if (downbeat_open(arguments.device.c_str(), &device) != DOWNBEAT_OK) {
    std::snprintf(message.problem, sizeof message.problem, "%s", downbeat_problem());
  } else if (downbeat_descriptor(device) < 0) {
    std::snprintf(message.problem, sizeof message.problem, "%s: the device has no interrupt", arguments.device.c_str());
  } else if (bind(control.get(), reinterpret_cast<sockaddr *>(&address), length) != 0 ||
             listen(control.get(), SOMAXCONN) != 0) {
    std::snprintf(message.problem, sizeof message.problem, "no control socket: %s", std::strerror(errno));
  } else {
    downbeat_device_info info;
    downbeat_device_info_of(device, &info);
    std::snprintf(message.environment, sizeof message.environment, "%s %x %x %u", name.c_str(), info.ip, info.netmask,
                  info.mss);
  }
  sendMessage(ready.get(), &message, sizeof message);
  ready.reset();
  if (message.problem[0] != '\0') std::_Exit(1);
  // The program's streams end with the program.
  const File nothing(open("/dev/null", O_RDWR));
  for (const int stream : {0, 1, 2}) dup2(nothing.get(), stream);
  downbeat_options options{};
  options.parameters = arguments.parameters;
  Pump(device, std::move(control), std::move(program), options).run();
  downbeat_release(device);
  std::_Exit(0);
}

} // namespace

int main(int count, char **values) {
  const Arguments arguments = parse(count, values);
  const std::string library = arguments.library.empty() ? preloadLibrary() : arguments.library;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail("no socket pair");
  File ours(ends[0]), theirs(ends[1]);
  File self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!self) fail("the kernel has no pidfd_open (Linux 5.3)");
  // The pump is nobody's child, so that the program waits for its own children alone.
  const pid_t middle = fork();
  if (middle == 0) {
    if (fork() == 0) pumpFor(arguments, std::move(self), std::move(theirs));
    std::_Exit(0);
  }
  waitpid(middle, nullptr, 0);
  theirs.reset();
  self.reset();
  Ready ready;
  if (!receiveMessage(ours.get(), &ready, sizeof ready)) fail("the pump ended at once");
  if (ready.environment[0] == '\0') fail(ready.problem);
  ours.reset();

  setenv(environmentName, ready.environment, 1);
  const char *before = std::getenv("LD_PRELOAD");
  setenv("LD_PRELOAD", before != nullptr && *before != '\0' ? (library + ":" + before).c_str() : library.c_str(), 1);
  execvp(arguments.program[0], arguments.program);
  const int error = errno;
  std::fprintf(stderr, "downbeat run: %s: %s\n", arguments.program[0], std::strerror(error));
  return error == ENOENT ? 127 : 126; // as a shell says it
}
