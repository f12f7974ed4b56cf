#!/bin/sh
# Keeps a kubelet running as systemd does with Restart=always and a short RestartSec, where there is no systemd.
#
#   kubelet-supervisor.sh DIR COMMAND [ARGUMENT...]
#
# In DIR, each file replaced in one step:
#   kubelet.pid   the running process; absent while none runs
#   restarts      how often it was started again, for whatever reason
#   last-exit     the status it last ended with (128 + n for signal n)
#
# SIGHUP restarts the kubelet, as "systemctl restart" does; SIGTERM ends it and the supervisor.
set -u

dir=$1
shift
pid=
ending=
trap '[ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null' HUP
trap 'ending=yes; [ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null' TERM INT

publish() {
  printf '%s\n' "$2" >"$dir/$1.new" && mv "$dir/$1.new" "$dir/$1"
}

restarts=0
while [ -z "$ending" ]; do
  publish restarts "$restarts"
  setpriv --pdeathsig KILL -- "$@" &
  pid=$!
  publish kubelet.pid "$pid"
  # Told to end just before there was anything to end.
  [ -z "$ending" ] || kill -TERM "$pid"
  while :; do
    wait "$pid"
    status=$?
    # A signal to this shell ends the wait as well; the kubelet is gone when it cannot be signalled any more.
    kill -0 "$pid" 2>/dev/null || break
  done
  pid=
  rm -f "$dir/kubelet.pid"
  publish last-exit "$status"
  restarts=$((restarts + 1))
  [ -n "$ending" ] || sleep 0.2
done
