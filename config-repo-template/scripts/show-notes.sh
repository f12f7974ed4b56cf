#!/bin/sh
# Makes `git log` in this clone show what became of each commit in each cluster.
#
#   scripts/show-notes.sh [remote]        default: origin
#
# The reconciler writes that as git notes, which a clone does not fetch by itself. This script tells git to fetch them with
# every fetch from now on, to show them in `git log` and `git show`, and fetches them once. It changes nothing but
# this clone's own configuration, and can be run again at any time.
set -eu

remote="${1:-origin}"
notes='refs/notes/kubelet-gitops/*'

if ! git config --get "remote.$remote.url" >/dev/null; then
  echo "show-notes: this clone has no remote \"$remote\". Give the right name: scripts/show-notes.sh <remote>" >&2
  echo "show-notes: it has: $(git remote | tr '\n' ' ')" >&2
  exit 1
fi

# Sets a value that may stand beside others of the same key, once.
add_once() {
  if ! git config --get-all "$1" | grep -qxF -e "$2"; then
    git config --add "$1" "$2"
  fi
}

# With a "+": notes here are copies, and the server's are right.
add_once "remote.$remote.fetch" "+$notes:$notes"
# Shown beside git's own refs/notes/commits.
add_once notes.displayRef "$notes"

git fetch --quiet "$remote"

found="$(git for-each-ref --format='%(refname:lstrip=3)' refs/notes/kubelet-gitops)"
if [ -z "$found" ]; then
  echo 'No notes yet. They come with the first commit that a reconciler with a pushing credential takes up.'
else
  echo 'git log now shows the notes of these clusters:'
  echo "$found" | sed 's/^/  /'
fi
