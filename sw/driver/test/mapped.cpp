// SPDX-License-Identifier: BSD-2-Clause-Patent
// Cases that the files of mapped_core.py cannot show. Prints what was seen of the case that is named. Calls of the
// kernel that the driver makes for a device come here (the linker's --wrap): this is the least of Linux that it needs.
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <linux/memfd.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "core/argument_field.h"
#include "handle.h"
#include "mapped_port.h"

using namespace downbeat;

namespace {

constexpr std::size_t registerBytes = 0x3000;
constexpr off_t configuration = 0x4000;

/// A PCI device behind VFIO: BAR 0 at the start of its file, then its configuration space.
File vfioDevice;
int uioInterrupt = -1;
bool smallPages = false; // in the place of huge ones
int absentRegion = -1;   // VFIO's index

void exceptions() {
  const int code = guarded([] { return std::stoi("no number"); });
  std::printf("%d %s\n", code, downbeat_problem());
}

/// Each number of `resume` and `paced` alone, and one that is too large; the high word first.
void arguments() {
  const auto show = [](const char *name, ArgumentField field, std::uint64_t value) {
    std::uint64_t argument[2] = {};
    put(argument, field, value);
    std::printf("%s %016llx%016llx\n", name, static_cast<unsigned long long>(argument[1]),
                static_cast<unsigned long long>(argument[0]));
  };
#define SHOW(policy, name)                                                                                             \
  show(policy " " name, startupField(policy, name), 1);                                                                \
  show(policy " " name, startupField(policy, name), UINT64_MAX)
  SHOW("resume", "saved");
  SHOW("resume", "maxJump");
  SHOW("resume", "rtt");
  SHOW("paced", "n");
  SHOW("paced", "gap");
  SHOW("paced", "burst");
#undef SHOW
}

/// `command`: of the configuration space, as vfio-pci leaves it.
MappedDevice openVfioHere(const std::string &name, std::uint16_t command) {
  vfioDevice = sharedMemory("device", configuration + 256);
  if (pwrite(vfioDevice.get(), &command, sizeof command, configuration + PCI_COMMAND) != sizeof command) return {};
  return openVfio(name);
}

void hugePages(const std::string &name) {
  const int code = guarded([&] { return openVfioHere(name, 0).memory.base() != nullptr ? 0 : 1; });
  std::printf("%d %s\n", code, downbeat_problem());
}

void busMaster(const std::string &name) {
  smallPages = true;
  const MappedDevice device = openVfioHere(name, PCI_COMMAND_MEMORY);
  std::uint16_t command = 0;
  const bool read = pread(vfioDevice.get(), &command, sizeof command, configuration + PCI_COMMAND) == sizeof command;
  std::printf("%d %x\n", read, unsigned{command});
}

void withoutRegion(const std::string &name, int region) {
  smallPages = true;
  absentRegion = region;
  const int code = guarded([&] { return openVfioHere(name, 0).memory.base() != nullptr ? 0 : 1; });
  std::printf("%d %s\n", code, downbeat_problem());
}

int readable(const MappedPort &port) {
  pollfd state{port.descriptor(), POLLIN, 0};
  return ::poll(&state, 1, 0);
}

/// Once raised and cleared: whether it is to be read before and after.
void raised(MappedPort &port, int kernel, const void *count, std::size_t bytes) {
  const bool written = ::write(kernel, count, bytes) == static_cast<ssize_t>(bytes);
  const int before = readable(port);
  port.clearInterrupt();
  std::printf("%d %d %d\n", written, before, readable(port));
}

/// The words that the driver has written.
void words(const File &kernel) {
  std::uint32_t word;
  while (recv(kernel.get(), &word, sizeof word, MSG_DONTWAIT) == sizeof word) std::printf("word %u\n", word);
}

/// `files`: those of the registers and the memory.
void ofUio(const std::string &files) {
  MappedDevice device = openUio(files);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  device.control = File(ends[0]);
  device.interrupt = File(uioInterrupt = fcntl(ends[0], F_DUPFD_CLOEXEC, 0));
  const File kernel(ends[1]);
  MappedPort port(std::move(device));
  words(kernel);
  const std::uint32_t count = 7;
  raised(port, kernel.get(), &count, sizeof count);
  words(kernel);
}

void ofVfio(const std::string &files) {
  MappedDevice device = openVfio(files);
  const int kernel = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  device.interrupt = File(kernel);
  MappedPort port(std::move(device));
  const std::uint64_t count = 1;
  raised(port, kernel, &count, sizeof count);
}

/// The device writes, and its interrupt never comes.
void lostInterrupt(const std::string &files) {
  MappedDevice device = openVfio(files);
  device.interrupt = File(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  MappedPort port(std::move(device));
  pollfd state{port.descriptor(), POLLIN, 0};
  const int later = ::poll(&state, 1, 1000);
  port.clearInterrupt();
  std::printf("%d %d\n", later, readable(port));
}

int ioctlOf(unsigned long request, void *argument) {
  switch (request) {
  case VFIO_GROUP_GET_DEVICE_FD: return fcntl(vfioDevice.get(), F_DUPFD_CLOEXEC, 0);
  case VFIO_DEVICE_GET_REGION_INFO: {
    auto &region = *static_cast<vfio_region_info *>(argument);
    const bool isConfiguration = region.index == VFIO_PCI_CONFIG_REGION_INDEX;
    region.size = static_cast<int>(region.index) == absentRegion ? 0 : isConfiguration ? 256 : registerBytes;
    region.offset = isConfiguration ? configuration : 0;
    return 0;
  }
  default: return 0;
  }
}

} // namespace

extern "C" {

int __real_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...) {
  return std::string_view(path).starts_with("/dev/vfio/") ? sharedMemory(path, 0).release() : __real_open(path, flags);
}

int __real_memfd_create(const char *name, unsigned flags);

int __wrap_memfd_create(const char *name, unsigned flags) {
  constexpr unsigned huge = MFD_HUGETLB | MFD_HUGE_MASK << MFD_HUGE_SHIFT;
  return __real_memfd_create(name, smallPages ? flags & ~huge : flags);
}

ssize_t __real_read(int file, void *bytes, std::size_t length);

ssize_t __wrap_read(int file, void *bytes, std::size_t length) {
  if (file == uioInterrupt && length != sizeof(std::uint32_t)) return errno = EINVAL, -1; // uio_read
  return __real_read(file, bytes, length);
}

int __wrap_ioctl(int, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  return ioctlOf(request, argument);
}

} // extern "C"

int main(int count, char **values) try {
  const std::string_view name = count > 1 ? values[1] : "";
  if (name == "arguments") return arguments(), 0;
  if (name == "exceptions") return exceptions(), 0;
  if (name == "huge-pages") return hugePages(values[2]), 0;
  if (name == "bus-master") return busMaster(values[2]), 0;
  if (name == "no-registers") return withoutRegion(values[2], VFIO_PCI_BAR0_REGION_INDEX), 0;
  if (name == "no-configuration") return withoutRegion(values[2], VFIO_PCI_CONFIG_REGION_INDEX), 0;
  if (name == "uio-interrupt") return ofUio(values[2]), 0;
  if (name == "lost-interrupt") return lostInterrupt(values[2]), 0;
  if (name == "vfio-interrupt") return ofVfio(values[2]), 0;
  return 1;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
