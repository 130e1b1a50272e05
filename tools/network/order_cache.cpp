#include "network/order_cache.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "network/slots.hpp"
#include "schedule/owned_file.hpp"

namespace swapmeet {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_kept_bytes = std::size_t{256} << 20;  ///< limit for one order, and for all together
constexpr std::string_view suffix = ".slots";

/// Returns the folder of the cache; "" if there is none.
fs::path folder() {
  const std::string cache = folder_of("XDG_CACHE_HOME"), home = folder_of("HOME");
  if (!cache.empty()) return fs::path(cache) / "swapmeet" / "orders";
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "swapmeet" / "orders";
}

fs::path place_of(std::uint64_t key) {
  char name[32];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(key));
  return folder() / (std::string(name) + std::string(suffix));
}

/// Deletes the oldest orders until the others stay within the limit.
void clear_old(const fs::path& within) {
  struct Kept {
    fs::file_time_type written;
    std::size_t bytes;
    fs::path path;
  };
  std::vector<Kept> all;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(within, ignored))
    if (entry.path().extension() == suffix)
      all.push_back({entry.last_write_time(ignored), static_cast<std::size_t>(entry.file_size(ignored)), entry.path()});
  std::ranges::sort(all, std::greater<>(), &Kept::written);
  std::size_t bytes = 0;
  for (const Kept& kept : all)
    if ((bytes += kept.bytes) > most_kept_bytes) fs::remove(kept.path, ignored);
}

}  // namespace

std::optional<SlotTable> cached_order(std::uint64_t key, Rank ranks) {
  if (folder().empty()) return std::nullopt;
  const Result<std::string> text = read_owned(place_of(key).string(), most_kept_bytes, Owner::user);
  if (!text) return std::nullopt;
  Result<SlotTable> slots = parse_slots(*text);
  if (!slots || slots->key != key || slots->ranks != ranks) return std::nullopt;
  return *std::move(slots);
}

void keep_order(const SlotTable& slots) {
  if (folder().empty()) return;
  const std::string text = to_text(slots);
  if (text.size() > most_kept_bytes) return;
  if (!make_folders(folder().string()).empty()) return;
  replace_owned(place_of(slots.key).string(), most_kept_bytes, [&text](const std::string&) { return text; });
  clear_old(folder());
}

}  // namespace swapmeet
