// SPDX-License-Identifier: BSD-2-Clause-Patent
// What test_driver_mapped.py's files cannot stand for. Prints what was seen of the case that is named. Calls of the
// kernel that the driver makes for a device come here (the linker's --wrap): this is the least of Linux that it needs.
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <linux/vfio.h>
#include <sys/ioctl.h>

#include "handle.h"
#include "mapped_port.h"

using namespace downbeat;

namespace {

constexpr std::size_t registerBytes = 0x3000;

/// A PCI device behind VFIO: BAR 0 at the start of its file.
File vfioDevice;

void exceptions() {
  const int code = guarded([] { return std::stoi("no number"); });
  std::printf("%d %s\n", code, downbeat_problem());
}

MappedDevice openVfioHere(const std::string &name) {
  vfioDevice = sharedMemory("device", registerBytes);
  return openVfio(name);
}

void hugePages(const std::string &name) {
  const int code = guarded([&] { return openVfioHere(name).memory.base() != nullptr ? 0 : 1; });
  std::printf("%d %s\n", code, downbeat_problem());
}

int ioctlOf(unsigned long request, void *argument) {
  switch (request) {
  case VFIO_GROUP_GET_DEVICE_FD: return fcntl(vfioDevice.get(), F_DUPFD_CLOEXEC, 0);
  case VFIO_DEVICE_GET_REGION_INFO: static_cast<vfio_region_info *>(argument)->size = registerBytes; return 0;
  default: return 0;
  }
}

} // namespace

extern "C" {

int __real_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...) {
  return std::string_view(path).starts_with("/dev/vfio/") ? sharedMemory(path, 0).release() : __real_open(path, flags);
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
  if (name == "exceptions") return exceptions(), 0;
  if (name == "huge-pages") return hugePages(values[2]), 0;
  return 1;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
