/// A hash of texts that is the same on every machine: 64-bit FNV-1a (fowler2011).
#pragma once

#include <cstdint>
#include <string_view>

namespace swapmeet {

class TextHash {
 public:
  void add(std::string_view text) {
    for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

inline std::uint64_t hash_of(std::string_view text) {
  TextHash hash;
  hash.add(text);
  return hash.value();
}

}  // namespace swapmeet
