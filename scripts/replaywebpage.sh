#!/usr/bin/env bash
# Downloads ReplayWeb.page, the viewer of web archives in which `make clients` opens our exports, into .clients/. It is
# under the AGPL: a tool for tests, never part of the package. Never fails: without it, its tests are skipped.
set -u
cd "$(dirname "$0")/.."
version=2.4.6
sha256=6faef5c261e94b6e83cd6ee975bd0378fd4bc948bb14d36d45c709ffecb261b8
folder=.clients/replaywebpage
[ "$(cat "$folder/version" 2>/dev/null)" = "$version" ] && exit 0
skip() {
  echo "note: ReplayWeb.page $version is not installed ($1), so its tests will be skipped." >&2
  echo "hint: $2, then run scripts/replaywebpage.sh again" >&2
  exit 0
}
command -v npm >/dev/null || skip "there is no npm" "install Node.js with npm (apt-get install npm, dnf install npm, brew install node)"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "downloading ReplayWeb.page $version into $folder …" >&2
npm pack --silent --pack-destination "$scratch" "replaywebpage@$version" >/dev/null 2>&1 ||
  skip "npm could not download it" "check that npm reaches its registry (npm view replaywebpage version)"
archive=$scratch/replaywebpage-$version.tgz
python3 -c 'import hashlib, sys; sys.exit(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest() != sys.argv[2])' \
  "$archive" "$sha256" || skip "the download is not the file that we know" "compare its digest with $sha256"
rm -rf "$folder" && mkdir -p "$folder"
tar -xzf "$archive" -C "$folder" --strip-components 1 package/index.html package/ui.js package/sw.js package/LICENSE
echo "$version" >"$folder/version"
