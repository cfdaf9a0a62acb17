// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memory mapped from a file, unmapped at the end.
#pragma once

#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "failure.h"
#include "file.h"

namespace downbeat {

class Mapping {
public:
  Mapping() = default;
  /// Shared, to read and write. Of huge pages they are reserved, or there is no mapping.
  Mapping(int file, std::size_t bytes, off_t offset = 0) : bytes_(bytes) {
    void *found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset);
    if (found == MAP_FAILED)
      throw Failure(DOWNBEAT_NO_DEVICE, "the kernel maps no memory: too large, or no such region");
    base_ = static_cast<std::uint8_t *>(found);
  }
  Mapping(Mapping &&other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping &operator=(Mapping &&other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (base_ != nullptr) munmap(base_, bytes_);
  }

  std::uint8_t *base() const { return base_; }
  std::size_t bytes() const { return bytes_; }

private:
  std::uint8_t *base_ = nullptr;
  std::size_t bytes_ = 0;
};

inline constexpr int sizeSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// Memory without a name, for several processes; it reads as zeros. Nobody can change its size, so no access fails.
inline File sharedMemory(const char *name, std::size_t bytes) {
  File file(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 || fcntl(file.get(), F_ADD_SEALS, sizeSeals) != 0)
    throw Failure(DOWNBEAT_OUT_OF_RESOURCES,
                  "the kernel gives no shared memory of " + std::to_string(bytes) + " bytes");
  return file;
}

/// Whether a file of another process is a sharedMemory of so many bytes.
inline bool isSharedMemory(int file, std::uint64_t bytes) {
  struct stat state{};
  const int seals = fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & sizeSeals) == sizeSeals && fstat(file, &state) == 0 &&
         static_cast<std::uint64_t>(state.st_size) == bytes;
}

} // namespace downbeat
