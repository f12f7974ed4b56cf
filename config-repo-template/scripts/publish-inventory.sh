#!/bin/sh
# Tells pull requests which nodes there are: writes what a plan needs of them to CLUSTER.json on the branch "inventory".
#
#   scripts/publish-inventory.sh CLUSTER [remote]        default: origin
#
# To be run regularly (every hour is plenty) by a job that may list nodes and pods of the cluster and push to that branch.
# Takes kubectl's present context, and needs kubectl, jq and git. Only names, labels, versions and sizes of nodes, how many
# pods each has, and what the critical and DaemonSet pods among them request leave the cluster: no name of a pod, nothing
# else of its spec, and no address. The branch has a single commit and never grows; the
# reconciler does not look at it.
set -eu

cluster="${1:?usage: scripts/publish-inventory.sh CLUSTER [remote]}"
remote="${2:-origin}"
branch=refs/heads/inventory

case $cluster in
  *[!A-Za-z0-9._-]*)
    echo "publish-inventory: $cluster is not a cluster's name" >&2
    exit 2
    ;;
esac

trim='def requests: {resources: {requests: .resources.requests}};
  def vital: (.spec.priority // 0) >= 2000000000
    or any(.metadata.ownerReferences[]?; .kind == "DaemonSet" or .kind == "Node");
  def size: (if contains(":") then "::/" else "0.0.0.0/" end) + sub("^.*/"; "");
  {items: [.items[] | if .kind == "Node" then {
    kind,
    metadata: {name: .metadata.name, labels: .metadata.labels, deletionTimestamp: .metadata.deletionTimestamp},
    spec: {
      podCIDRs: [.spec.podCIDRs[]? | size],
      unschedulable: (.spec.unschedulable and .metadata.annotations["kubelet-gitops.dev/cordoned"] == null),
      taints: [.spec.taints[]? | {key, value}]
    },
    status: {
      nodeInfo: {kubeletVersion: .status.nodeInfo.kubeletVersion},
      capacity: .status.capacity,
      allocatable: .status.allocatable,
      conditions: [.status.conditions[]? | select(.type == "Ready") | {type, status}]
    }
  } elif vital then {
    kind,
    metadata: {ownerReferences: [.metadata.ownerReferences[]? | {kind}]},
    spec: {
      nodeName: .spec.nodeName,
      priority: .spec.priority,
      overhead: .spec.overhead,
      containers: [.spec.containers[]? | requests],
      initContainers: [.spec.initContainers[]? | requests + {restartPolicy}]
    },
    status: {phase: .status.phase}
  } else {kind, spec: {nodeName: .spec.nodeName}, status: {phase: .status.phase}} end]}'

all="$(mktemp)"
nodes="$(mktemp)"
trap 'rm -f "$all" "$nodes"' EXIT
# Not in one pipe: a kubectl that fails must not publish an empty inventory.
kubectl get nodes,pods --all-namespaces -o json >"$all"
jq --compact-output "$trim" <"$all" >"$nodes"
if ! jq --exit-status 'any(.items[]; .kind == "Node")' <"$nodes" >/dev/null; then
  echo 'publish-inventory: kubectl listed no node: nothing is published' >&2
  exit 2
fi

# What other clusters have published stays.
old="$(git ls-remote "$remote" "$branch" | cut -f1)"
if [ -n "$old" ]; then
  git fetch --quiet --depth 1 "$remote" "$branch"
fi
blob="$(git hash-object -w "$nodes")"
tree="$({
  if [ -n "$old" ]; then git ls-tree "$old" | grep -vF "$(printf '\t')$cluster.json" || true; fi
  printf '100644 blob %s\t%s.json\n' "$blob" "$cluster"
} | git mktree)"
if [ -n "$old" ] && [ "$(git rev-parse "$old^{tree}")" = "$tree" ]; then
  echo "publish-inventory: $cluster is as it was"
  exit 0
fi
commit="$(git -c user.name=kubelet-gitops -c user.email=kubelet-gitops@localhost commit-tree "$tree" -m "Nodes of $cluster")"
# Refused where another cluster's job was faster: the next run puts it right.
git push --quiet --force-with-lease="$branch:$old" "$remote" "$commit:$branch"
echo "publish-inventory: $cluster has $(jq '[.items[] | select(.kind == "Node")] | length' <"$nodes") nodes"
