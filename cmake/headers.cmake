# The standard library's headers that most files include, parsed once for each target: that halves the time of a build.
# Files include what they use nevertheless, and are compiled without this by -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON.
function(swapmeet_precompile_headers)
  target_precompile_headers(${ARGV0} PRIVATE <algorithm> <array> <atomic> <chrono> <cstdio> <cstring> <functional> <map>
                            <memory> <mutex> <numeric> <optional> <span> <string> <string_view> <unordered_map> <utility>
                            <variant> <vector>)
endfunction()

# What the short files of these folders of a target include takes longest: the files of each are compiled as one.
option(SWAPMEET_UNITY "Compile folders whose files include much as one file each" ON)
function(swapmeet_compile_folders_as_one target)
  if(NOT SWAPMEET_UNITY)
    return()
  endif()
  get_target_property(all ${target} SOURCES)
  foreach(folder ${ARGN})
    set(files ${all})
    list(FILTER files INCLUDE REGEX "/${folder}/[^/]*$")
    set_source_files_properties(${files} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
