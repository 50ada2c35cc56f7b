# Every outside library, found once. All are Debian packages (packages.txt).

find_program(CCACHE ccache)
if(CCACHE)
  # Without these a precompiled header makes every compilation a cache miss (so does the lack of
  # -fpch-preprocess, see rooms.cmake).
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

# Caffe2's config asks for CUDA and prints a page of notes unless told not to.
find_package(Torch REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(Threads REQUIRED)
if(UNDERTEXT_MPI)
  find_package(MPI COMPONENTS C)
endif()
find_library(OPENBLAS openblas REQUIRED)
find_path(OPENBLAS_INCLUDE cblas.h REQUIRED PATH_SUFFIXES openblas openblas-pthread
          HINTS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
