#!/bin/sh
# Makes the release on GitHub, of files whose checksums are signed: publish.sh TAG
set -eu
tag=$1
notes=$(mktemp)
trap 'rm -f "$notes"' EXIT

cd release
sha256sum --check --strict --quiet SHA256SUMS
cosign sign-blob --yes --bundle SHA256SUMS.sigstore.json SHA256SUMS >&2
# The newest part of the changelog, without its heading.
awk '/^## /{part += 1; next} part == 1' ../CHANGELOG.md >"$notes"
gh release create "$tag" --verify-tag --title "$tag" --notes-file "$notes" ./*
