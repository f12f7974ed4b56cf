#!/bin/sh
# Plans the change of a pull or merge request, for every cluster of the config repository in the current directory:
#
#   plan.sh BASE INVENTORIES PLANS
#
# BASE is the commit that HEAD is compared with; INVENTORIES, a directory with CLUSTER.json for clusters whose nodes are known,
# or missing; PLANS, a directory that gets plan-CLUSTER.md for each. CONFIG_PATH is the folder of the config repository.
#
# Ends with 0 where nothing was found against the change. 2: a plan could not be made. 3: what is merged would be refused, reach no
# node, or leave nodes between two pools (`plan --help` has --fail-on). The plan itself then says why.
set -eu
base=$1
inventories=$2
plans=$3

# Every cluster that has a file, or had one before the merge.
clusters=$({ ls "$CONFIG_PATH/clusters" || true; git ls-tree --name-only "$base" "$CONFIG_PATH/clusters/" || true; } |
  sed -n 's|^.*/||; s|^\([a-z0-9][a-z0-9.-]*\)\.yaml$|\1|p' | sort -u)
code=0
for cluster in ${clusters:-default}; do
  set --
  if [ -f "$inventories/$cluster.json" ]; then
    set -- --inventory "$inventories/$cluster.json"
  fi
  one=0
  node "$(dirname "$0")/../bin.js" plan --path "$CONFIG_PATH" --cluster "$cluster" --base "$base" --head HEAD "$@" \
    -o markdown > "$plans/plan-$cluster.md" || one=$?
  if [ "$one" -gt "$code" ]; then
    code=$one
  fi
done
if [ "$code" -gt 1 ]; then
  exit "$code"
fi
