# The standard library's headers that most files include, parsed once for each target: that halves the time of a build.
# Files include what they use nevertheless, and are compiled without this by -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON.
function(swapmeet_precompile_headers)
  target_precompile_headers(${ARGV0} PRIVATE <algorithm> <array> <atomic> <chrono> <cstdio> <cstring> <functional> <map>
                            <memory> <mutex> <numeric> <optional> <span> <string> <string_view> <unordered_map> <utility>
                            <variant> <vector>)
endfunction()
