// SPDX-License-Identifier: BSD-2-Clause-Patent
// A file descriptor that closes itself.
#pragma once

#include <utility>

#include <unistd.h>

namespace downbeat {

class File {
public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File &&other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File &operator=(File &&other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File() { reset(); }

  void reset() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  int release() { return std::exchange(descriptor_, -1); }
  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

private:
  int descriptor_ = -1;
};

} // namespace downbeat
