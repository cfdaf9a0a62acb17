// SPDX-License-Identifier: BSD-2-Clause-Patent
// The run's files: events.csv of the sender's events and series.csv with samples at equal intervals.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

/// A text file that its destructor closes.
class TextFile {
public:
  TextFile(const std::filesystem::path &path, const char *header) : file_(std::fopen(path.c_str(), "w")) {
    if (file_) std::fprintf(file_.get(), "%s\n", header);
  }
  explicit operator bool() const { return file_ != nullptr; }
  template <typename... Values> void row(const char *format, Values... values) {
    std::fprintf(file_.get(), format, values...);
  }

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};
