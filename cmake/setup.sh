# shellcheck shell=sh disable=SC2154
# Shell code that ./undertext and ./dev share: packages, configuring, building. Plain POSIX sh, because a bare
# machine has nothing else. Expects $root, the checkout. Nothing here writes to stdout or changes the folder.

build=$root/build
preset=release # of CMakePresets.json, which puts its files into $build

say() {
  printf 'undertext: %s\n' "$*" >&2
}

# packages_of SECTION...: the packages that packages.txt lists under these sections.
packages_of() {
  for wanted in "$@"; do
    section=
    while read -r line; do
      case $line in
        '' | '#'*) ;;
        '['*) section=$line ;;
        *) [ "$section" = "[$wanted]" ] && printf '%s\n' "$line" ;;
      esac
    done <"$root/packages.txt"
  done
}

# install_packages SECTION...: installs what is missing, as root or by sudo. Silent when nothing is.
install_packages() {
  command -v dpkg-query >/dev/null || return 0 # not Debian: CMake names what it does not find
  wanted=$(packages_of "$@")
  # shellcheck disable=SC2086
  present=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $wanted 2>/dev/null)
  missing=
  for package in $wanted; do
    case "
$present
" in
      *"
$package installed
"*) ;;
      *) missing="$missing $package" ;;
    esac
  done
  [ -n "$missing" ] || return 0

  if [ "$(id -u)" = 0 ]; then
    as_root=
  elif command -v sudo >/dev/null; then
    as_root=sudo
  else
    say "these Debian packages are missing and there is no sudo; as root, run: apt-get install$missing"
    exit 2
  fi
  say "installing Debian packages${as_root:+ by sudo}:$missing"
  # shellcheck disable=SC2086
  if ! shown "$build/install.log" $as_root apt-get update ||
    ! shown "$build/install.log" $as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends $missing; then
    say "could not install:$missing"
    exit 2
  fi
}

# logged LOG COMMAND...: the command's output goes to LOG, and to stderr only when it fails.
logged() {
  log=$1
  shift
  "$@" >"$log" 2>&1 </dev/null 9>&- || {
    status=$?
    cat "$log" >&2
    return $status
  }
}

# shown LOG COMMAND...: on a terminal the command shows its progress on stderr; elsewhere it is logged.
shown() {
  if [ -t 2 ]; then
    shift
    "$@" >&2 </dev/null 9>&-
  else
    logged "$@"
  fi
}

# configure OPTION...: CMake options that must be ON; those that another verb turned on stay on.
configure() {
  flags=
  for option in "$@"; do
    grep -qs "^$option:BOOL=ON" "$build/CMakeCache.txt" || flags="$flags -D$option=ON"
  done
  if [ ! -f "$build/build.ninja" ]; then
    for option in UNDERTEXT_TESTS UNDERTEXT_BENCH; do
      case "$flags " in
        *"-D$option=ON "*) ;;
        *) flags="$flags -D$option=OFF" ;;
      esac
    done
  fi
  [ -n "$flags" ] || return 0
  # shellcheck disable=SC2086
  if ! logged "$build/configure.log" cmake -S "$root" --preset "$preset" $flags; then
    say "could not configure; the lines above say why"
    exit 2
  fi
}

# One compiler per core, but each needs about 1.5 GB for torch's headers.
jobs() {
  cores=$(nproc)
  available=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
  by_memory=$((${available:-3000000} / 1500000))
  [ "$by_memory" -lt "$cores" ] && cores=$by_memory
  [ "$cores" -ge 1 ] || cores=1
  echo "$cores"
}

# show_steps: copies ninja's output to stdout; from its first real step on says so, on a terminal with each step.
show_steps() {
  said=
  while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in
      *'Re-checking globbed'*) ;; # every run begins with this
      '['*)
        [ -n "$said" ] || say "building$([ -x "$build/undertext" ] || echo ', which takes a few minutes')"
        said=yes
        [ ! -t 2 ] || printf '\r\033[K%.79s' "$line" >&2
        ;;
    esac
  done
  [ -z "$said" ] || [ ! -t 2 ] || printf '\r\033[K' >&2
}

# compile TARGET...: builds what changed. Silent when nothing did.
compile() {
  { ninja -C "$build" -j "$(jobs)" "$@" 2>&1 </dev/null 9>&- || echo undertext-failed; } |
    show_steps >"$build/build.log"
  case $(tail -n 1 "$build/build.log") in
    undertext-failed)
      sed '$d' "$build/build.log" >&2
      say "could not build; the lines above say why"
      exit 2
      ;;
  esac
}

# prepare SECTIONS OPTIONS TARGETS: packages, configuration and build, each a list in one word. Two at once (verbs
# in a pipe) wait for each other.
prepare() {
  mkdir -p "$build" || exit 2
  exec 9>"$build/lock" || exit 2
  flock 9
  # shellcheck disable=SC2086
  {
    install_packages $1
    configure $2
    compile $3
  }
  exec 9>&-
}
