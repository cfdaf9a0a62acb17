// SPDX-License-Identifier: BSD-2-Clause-Patent
// How UIO and VFIO give a device's registers and memory that it reaches. Not run on hardware.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <linux/memfd.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "mapped_port.h"

namespace downbeat {

namespace {

constexpr std::size_t registerBytes = format::doorbellPages + format::pageBytes; // one port's doorbells
constexpr std::size_t hugePage = 1 << 21;
constexpr std::size_t memorySize = 256 << 20; // of huge pages
constexpr const char *openAlready = ": it is open already (fuser -v says where), and a core serves one program";

File openFile(const std::string &path) {
  File file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file) return file;
  if (errno == EBUSY) // a VFIO group is opened once
    throw Failure(DOWNBEAT_NO_PORT, path + openAlready);
  if (errno == EACCES || errno == EPERM)
    throw Failure(DOWNBEAT_NO_PERMISSION, path + ": no permission: be root, or in the device's group");
  throw Failure(DOWNBEAT_NO_DEVICE, path + ": no such device (" + std::strerror(errno) + ")");
}

/// Who opens a device resets its core: so the second one does not.
File openAlone(const std::string &path) {
  File file = openFile(path);
  if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  throw Failure(DOWNBEAT_NO_PORT, path + openAlready);
}

bool isPlainFile(const std::string &path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

Mapping wholeOf(const File &file) {
  struct stat state{};
  fstat(file.get(), &state);
  return Mapping(file.get(), static_cast<std::size_t>(state.st_size));
}

/// A file that stands for the registers, and one for the memory at bus address 0.
MappedDevice ofFiles(const std::string &registers, const std::string &memory) {
  MappedDevice device;
  File file = openAlone(registers);
  device.registers = wholeOf(file);
  device.kept.push_back(std::move(file));
  if (memory.empty())
    throw Failure(DOWNBEAT_INVALID_ARGUMENT, registers + " is a file: name the memory too (?memory=FILE)");
  device.memory = wholeOf(openFile(memory));
  return device;
}

std::pair<std::string, std::string> withMemory(const std::string &name) {
  constexpr const char *option = "?memory=";
  const auto at = name.find(option);
  if (at == std::string::npos) return {name, ""};
  return {name.substr(0, at), name.substr(at + std::strlen(option))};
}

/// Memory that stays where it is. UIO has no IOMMU, so one huge page must be enough, or the pages must follow one
/// another.
void takeHugePages(MappedDevice &device) {
  File pages(memfd_create("downbeat", MFD_CLOEXEC | MFD_HUGETLB | MFD_HUGE_2MB));
  try {
    if (pages && ftruncate(pages.get(), memorySize) == 0) device.memory = Mapping(pages.get(), memorySize);
  } catch (const Failure &) {} // there are fewer
  if (device.memory.bytes() == 0) throw Failure(DOWNBEAT_OUT_OF_RESOURCES, "no huge pages: sysctl vm.nr_hugepages=128");
  std::memset(device.memory.base(), 0, memorySize); // every page is there from now on
}

std::uint64_t physicalAddress(const std::uint8_t *place) {
  std::ifstream table("/proc/self/pagemap", std::ios::binary);
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  table.seekg(static_cast<std::streamoff>(reinterpret_cast<std::uintptr_t>(place) / page * sizeof(std::uint64_t)));
  std::uint64_t entry = 0;
  table.read(reinterpret_cast<char *>(&entry), sizeof entry);
  constexpr std::uint64_t frame = (1ull << 55) - 1;
  if (!table || (entry & frame) == 0)
    throw Failure(DOWNBEAT_NO_PERMISSION,
                  "the kernel tells no physical addresses: be root (CAP_SYS_ADMIN), or use vfio:");
  return (entry & frame) * page;
}

vfio_region_info regionOf(const File &function, std::uint32_t index) {
  vfio_region_info region{};
  region.argsz = sizeof region;
  region.index = index;
  if (!function || ioctl(function.get(), VFIO_DEVICE_GET_REGION_INFO, &region) != 0) region.size = 0;
  return region;
}

/// Lets the device reach memory: vfio-pci takes that from it at its open.
bool setBusMaster(const File &function) {
  const vfio_region_info region = regionOf(function, VFIO_PCI_CONFIG_REGION_INDEX);
  const auto place = static_cast<off_t>(region.offset + PCI_COMMAND);
  std::uint16_t command; // little-endian, as the host of a VFIO device
  if (region.size == 0 || pread(function.get(), &command, sizeof command, place) != sizeof command) return false;
  command |= PCI_COMMAND_MASTER;
  return pwrite(function.get(), &command, sizeof command, place) == sizeof command;
}

} // namespace

MappedDevice openUio(const std::string &uri) {
  const auto [name, memory] = withMemory(uri);
  if (isPlainFile(name)) return ofFiles(name, memory);
  MappedDevice device;
  device.control = openAlone(name);
  const std::string map = "/sys/class/uio/" + std::filesystem::path(name).filename().string() + "/maps/map0/size";
  std::size_t size = registerBytes;
  if (std::ifstream text(map); text) text >> std::hex >> size;
  device.registers = Mapping(device.control.get(), size);
  device.interrupt = File(fcntl(device.control.get(), F_DUPFD_CLOEXEC, 0));
  takeHugePages(device);
  device.busAddress = physicalAddress(device.memory.base());
  for (std::size_t at = 0; at < memorySize; at += hugePage)
    if (physicalAddress(device.memory.base() + at) != device.busAddress + at)
      throw Failure(DOWNBEAT_OUT_OF_RESOURCES,
                    "the huge pages do not follow one another: reserve them at boot, or use vfio:");
  return device;
}

MappedDevice openVfio(const std::string &uri) {
  const auto [name, memory] = withMemory(uri);
  if (isPlainFile(name)) return ofFiles(name, memory);
  const std::filesystem::path link = "/sys/bus/pci/devices/" + name + "/iommu_group";
  std::error_code error;
  const auto group = std::filesystem::read_symlink(link, error);
  if (error)
    throw Failure(DOWNBEAT_NO_DEVICE, name + ": no such PCI device with an IOMMU group (lspci -D; the kernel needs "
                                             "intel_iommu=on or amd_iommu=on)");
  MappedDevice device;
  File container = openFile("/dev/vfio/vfio");
  File members = openFile("/dev/vfio/" + group.filename().string());
  const int own = container.get();
  if (ioctl(members.get(), VFIO_GROUP_SET_CONTAINER, &own) != 0 ||
      ioctl(container.get(), VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU) != 0)
    throw Failure(DOWNBEAT_NO_PERMISSION, name + ": its IOMMU group is not free: bind all its devices to vfio-pci");
  File function(ioctl(members.get(), VFIO_GROUP_GET_DEVICE_FD, name.c_str()));
  const vfio_region_info region = regionOf(function, VFIO_PCI_BAR0_REGION_INDEX);
  if (region.size == 0) throw Failure(DOWNBEAT_NO_DEVICE, name + ": VFIO gives no BAR 0");
  device.registers = Mapping(function.get(), region.size, static_cast<off_t>(region.offset));
  takeHugePages(device);
  vfio_iommu_type1_dma_map map{};
  map.argsz = sizeof map;
  map.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
  map.vaddr = reinterpret_cast<std::uintptr_t>(device.memory.base());
  map.size = memorySize;
  if (ioctl(container.get(), VFIO_IOMMU_MAP_DMA, &map) != 0)
    throw Failure(DOWNBEAT_OUT_OF_RESOURCES, name + ": the IOMMU maps no memory (ulimit -l)");
  device.interrupt = File(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  alignas(vfio_irq_set) std::uint8_t raw[sizeof(vfio_irq_set) + sizeof(int)] = {};
  auto *set = reinterpret_cast<vfio_irq_set *>(raw);
  set->argsz = sizeof raw;
  set->flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
  set->index = VFIO_PCI_MSI_IRQ_INDEX;
  set->count = 1;
  const int raised = device.interrupt.get();
  std::memcpy(set->data, &raised, sizeof raised);
  if (ioctl(function.get(), VFIO_DEVICE_SET_IRQS, set) != 0)
    throw Failure(DOWNBEAT_NO_DEVICE, name + ": the device takes no MSI");
  if (!setBusMaster(function)) throw Failure(DOWNBEAT_NO_DEVICE, name + ": VFIO lets the device reach no memory");
  for (File *each : {&container, &members, &function}) device.kept.push_back(std::move(*each));
  return device;
}

} // namespace downbeat
