#!/bin/sh
# Signs what lies in a registry, by the identity of this workflow run, and says what made it: sign.sh IMAGE@DIGEST [SBOM]
# There is no key: sigstore certifies the run's OIDC token, and its log keeps what was signed.
set -eu
reference=$1 bill=${2:-}
here=$(dirname "$0")
provenance=$(mktemp)
trap 'rm -f "$provenance"' EXIT

case $reference in
  *@sha256:*) ;;
  *) echo "sign.sh: $reference has no digest, and a tag can be moved between here and there" >&2 && exit 2 ;;
esac
npx node "$here/provenance.ts" >"$provenance"
cosign sign --yes "$reference" >&2
cosign attest --yes --type slsaprovenance1 --predicate "$provenance" "$reference" >&2
if [ -n "$bill" ]; then
  cosign attest --yes --type cyclonedx --predicate "$bill" "$reference" >&2
fi
