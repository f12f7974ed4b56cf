#!/bin/sh
# Makes the files of a release in release/, and compares them with what an earlier job made: prepare.sh [SHA256SUMS' text]
# Jobs hand nothing but checksums to one another: each makes the files itself, from the same commit.
set -eu
expected=${1:-}
here=$(dirname "$0")

npm ci --ignore-scripts --no-audit --no-fund >&2
helm=$(test/support/go-programs/build.sh helm helm)/helm
npx node "$here/artifacts.ts" --helm "$helm" >&2
if [ -n "$expected" ] && [ "$expected" != "$(cat release/SHA256SUMS)" ]; then
  echo 'prepare.sh: these are not the bytes that the first job made and tested' >&2
  exit 1
fi
echo "$helm"
