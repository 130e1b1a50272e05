#!/bin/sh
# Debian's packages of this tree, in build/debs: built, checked by lintian, installed and tested (as root).
set -eu
cd "$(dirname "$0")/.."
folder=$PWD/build/debs
version=$(sed -n '1s/.*(\([^-]*\)-.*/\1/p' debian/changelog)
profiles=${PROFILES:-}

skip() {
  echo "debs: skipped: $1"
  exit 0
}
command -v apt-get >/dev/null || skip "this is not Debian"
[ "$(id -u)" = 0 ] || skip "installing what builds them, and them, takes root"

export DEBIAN_FRONTEND=noninteractive
mkdir -p "$folder"
apt-get update >"$folder/apt.log" 2>&1
apt-get install --yes --no-install-recommends build-essential git devscripts lintian autopkgtest >>"$folder/apt.log" 2>&1 ||
  skip "apt-get failed ($folder/apt.log)"

# As Debian has it: the release without debian/, and debian/ beside it.
rm -rf "$folder"/swapmeet* "$folder"/*.deb
git ls-files -z --cached --others --exclude-standard |
  tar -c --null --ignore-failed-read --transform "s,^,swapmeet-$version/," -T - | tar -x -C "$folder"
tar -C "$folder" --exclude=debian -czf "$folder/swapmeet_$version.orig.tar.gz" "swapmeet-$version"
cd "$folder/swapmeet-$version"
build_dependencies() {
  apt-get build-dep --yes --no-install-recommends ${profiles:+--build-profiles "$profiles"} ./ >>"$folder/apt.log" 2>&1
}
if [ -z "$profiles" ] && ! build_dependencies; then
  echo "debs: without python3-swapmeet: what it is built with cannot be installed here ($folder/apt.log)"
  profiles=nopython
fi
[ -z "$profiles" ] || build_dependencies ||
  skip "the packages that it is built with cannot be installed ($folder/apt.log)"
dpkg-buildpackage --no-sign ${profiles:+--build-profiles="$profiles"} >"$folder/build.log" 2>&1 ||
  { tail -40 "$folder/build.log" && exit 1; }
cd "$folder"
# The last tag: Debian 12's lintian knows an older policy than ours follows.
lintian --allow-root --fail-on error,warning \
  --suppress-tags bad-distribution-in-changes-file,initial-upload-closes-no-bugs,newer-standards-version \
  "swapmeet_${version}"-*.changes
# autopkgtest leaves installed what it tests.
packages=$(sed -n 's/^Package: //p' "swapmeet-$version/debian/control")
# The names are words.
# shellcheck disable=SC2086
if ! dpkg-query -W -f '${Status}\n' $packages 2>/dev/null | grep -q 'ok installed'; then
  trap 'dpkg --purge $packages >>"$folder/apt.log" 2>&1 || true' EXIT
fi
autopkgtest --no-built-binaries --test-name=libraries ./*.deb "swapmeet-$version/" -- null
[ -n "$profiles" ] || autopkgtest --no-built-binaries --test-name=command ./*.deb "swapmeet-$version/" -- null
ls "$folder"/*.deb
