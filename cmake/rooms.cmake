# undertext_room(NAME [LEFT rooms...] [LIBS libraries...])
#
# One static library for one folder of src/, with our warnings as errors and the shared precompiled
# header. LEFT names the rooms that this one may include from.

add_library(undertext_options INTERFACE)
target_compile_options(undertext_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # These come from the optimiser, and GCC 12 sees them inside std::string and std::vector where there is
  # nothing; which ones depends on the machine, so they must not stop a build.
  target_compile_options(undertext_options INTERFACE -Wno-array-bounds -Wno-restrict
                         -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized)
endif()
# Nobody reads errno or floating-point traps here, and both keep loops from being vectorised. Neither flag
# changes a value.
target_compile_options(undertext_options INTERFACE -fno-math-errno -fno-trapping-math)
if(CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  target_compile_options(undertext_options INTERFACE -fpch-preprocess)
endif()
if(UNDERTEXT_NATIVE)
  target_compile_options(undertext_options INTERFACE -march=native)
endif()
if(CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  target_compile_options(undertext_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
if(UNDERTEXT_SANITIZE OR UNDERTEXT_FUZZ)
  # float-cast-overflow is undefined behaviour that "undefined" leaves out. The assertions see an index past a
  # vector's size that still lies in its capacity, which the address sanitizer takes for valid.
  target_compile_options(undertext_options INTERFACE
                         -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all
                         -fno-omit-frame-pointer)
  target_compile_definitions(undertext_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(undertext_options INTERFACE -fsanitize=address,undefined)
endif()
if(UNDERTEXT_FUZZ)
  target_compile_options(undertext_options INTERFACE -fsanitize=fuzzer-no-link)
  target_compile_definitions(undertext_options INTERFACE UNDERTEXT_FUZZ)
endif()
target_include_directories(undertext_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
# Libraries' headers are system headers: their warnings are not ours.
target_include_directories(undertext_options SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS}
                                                              ${OPENBLAS_INCLUDE})
target_link_libraries(undertext_options INTERFACE fmt::fmt nlohmann_json::nlohmann_json
                                                  ${TORCH_LIBRARIES} ${OPENBLAS} Threads::Threads)

add_library(undertext_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
target_link_libraries(undertext_pch PRIVATE undertext_options)
target_precompile_headers(undertext_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)

function(undertext_room name)
  cmake_parse_arguments(ROOM "" "" "LEFT;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  add_library(undertext_${name} STATIC ${sources})
  list(TRANSFORM ROOM_LEFT PREPEND undertext_)
  target_link_libraries(undertext_${name} PUBLIC ${ROOM_LEFT} undertext_options ${ROOM_LIBS})
  target_precompile_headers(undertext_${name} REUSE_FROM undertext_pch)
endfunction()

# undertext_test(ROOM [libraries...]): one test program for tests/ROOM, linked with that room. It is one test to
# CTest, because loading torch takes longer than most cases; ./dev test counts the cases.
function(undertext_test name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE undertext_${name} GTest::gtest_main ${ARGN})
  target_include_directories(test_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_precompile_headers(test_${name} REUSE_FROM undertext_pch)
  target_compile_definitions(test_${name} PRIVATE
    UNDERTEXT_BINARY="$<TARGET_FILE:undertext>"
    UNDERTEXT_SHARED="${PROJECT_SOURCE_DIR}/../shared")
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 1800)
endfunction()
