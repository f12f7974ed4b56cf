#!/bin/sh
# The node agent's deputy on the host, here for the time of one trial and for the boot after it. It takes the trial back when the
# agent cannot: when the agent is dead, cut off, or not started after a reboot. And it takes back what was promoted when no agent
# comes up after the boot, or when a start of the kubelet before that ends the agent. Either is taken back as well where the machine
# boots again and again before an agent is up. docs/guard.md is about it.
#
#   guard.sh start    before each start of the kubelet (ExecStartPre): counts the starts
#   guard.sh tick     every 15 seconds (a transient timer): waits for an agent that is silent
#
# Whatever it finds on the disk, it never keeps the kubelet from starting: it ends with 0, and it ends in time. Nothing here
# needs the wall clock, and nothing but mv and rm is needed to restore: what is to be put back lies beside its place already.
# Only where somebody took that away, cmp and cp are needed, too.
#
# It runs without a lock: a start and a tick at the same time move the same files to the same places, and only one of them
# can rename the plan.
#
# The second argument says after how many seconds it gives up. Two more are for tests: where /proc is, and PATH.

set -uf
trap 'exit 0' EXIT HUP INT TERM
trap '' PIPE
umask 077

mode=${1:-}
patience=${2:-20}
proc=${3:-/proc}
PATH=${4:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin}
export PATH

here=${0%/*}
# Beside each file that is to be put back, this is added to its name. Never ".conf": the kubelet would read it as a drop-in.
suffix=.kubelet-gitops-restore
# And this while it is laid there once more; whoever writes that file next removes what is left of it.
temporary=.kubelet-gitops-tmp-guard
# And this to the name of a file that was there and has to be gone, until everything is tidied up.
removed=.kubelet-gitops-removed
timer=kubelet-gitops-guard
drop_in_name=90-kubelet-gitops-guard.conf
# Nobody is asked whether the kubelet is down before the agent has been silent for so many seconds: three signs of life are missing.
short_silence=45
# An agent that lives so many seconds after a start of the kubelet has outlived it: pods are admitted within a few.
settled=120
# A boot that lasts so many seconds after the kubelet's start is not lost, and after so many lost ones in a row the kubelet does not
# start with this config again.
whole_boot=600
most_lost=2
most_lines=500
# Set once something is written down that the next boot has to know.
unsynced=

say() {
  printf 'kubelet-gitops-guard: %s\n' "$*" >&3
}

is_number() {
  case $1 in
    '' | *[!0-9]* | 0?* | ??????????*) return 1 ;;
  esac
}

# Sets $line to the first line of a file; fails where there is none.
first_line() {
  line=
  [ -f "$1" ] && [ -r "$1" ] || return 1
  IFS= read -r line <"$1"
  [ -n "$line" ]
}

# Writes a line over the beginning of a file. The files were made with their full length, so that this needs no room on the disk.
write_line() {
  if [ -e "$1" ] && [ ! -f "$1" ]; then return 1; fi
  printf '%s\n' "$2" 1<>"$1"
}

# Sets $boot and $now: which boot of the machine this is, and its age in seconds (empty where that is unknown).
look_at_time() {
  boot=unknown
  if first_line "$proc/sys/kernel/random/boot_id"; then
    case $line in
      *[!0-9A-Za-z-]* | ?????????????????????????????????????*) ;;
      *) boot=$line ;;
    esac
  fi
  now=
  if first_line "$proc/uptime" && is_number "${line%%[!0-9]*}"; then now=${line%%[!0-9]*}; fi
}

# Reads a plan as a whole and sets $unit, $max_starts, $silence, $drop_in, $watch (the boot of a promotion; empty for a trial). Fails where anything is missing or not understood:
# then nothing is done.
read_plan() {
  unit='' max_starts='' silence='' drop_in='' watch='' end='' lines=0
  [ -f "$1" ] && [ -r "$1" ] || return 1
  while [ "$lines" -lt "$most_lines" ] && IFS= read -r line <&4; do
    lines=$((lines + 1))
    rest=${line#* }
    [ -z "$end" ] || return 1
    if [ "$lines" = 1 ] && [ "$line" = 'kubelet-gitops-guard 1' ]; then continue; fi
    [ "$lines" != 1 ] || return 1
    case $line in
      'trial '* | 'to '*) ;;
      'unit '*) unit=$rest ;;
      'max-starts '*) max_starts=$rest ;;
      'silence '*) silence=$rest ;;
      'drop-in /'*) drop_in=$rest ;;
      'watch '?*) watch=$rest ;;
      'put /'* | 'put-empty /'* | 'remove /'*) ;;
      'limit '*=*) ;;
      end) end=yes ;;
      *) return 1 ;;
    esac
  done 4<"$1"
  case $unit in
    '' | -* | *[!0-9A-Za-z@._:\\-]*) return 1 ;;
  esac
  [ -n "$end" ] && is_number "$max_starts" && is_number "$silence"
}

# One step of the way back. Done already is fine. A directory in the place of the file stays: mv would put the file into it.
restore_file() {
  [ -d "$2" ] && return
  case $1 in
    put) [ -f "$2$suffix" ] && [ -s "$2$suffix" ] && mv -f "$2$suffix" "$2" ;;
    put-empty) [ -f "$2$suffix" ] && mv -f "$2$suffix" "$2" ;;
    # Whatever is there after it was removed came later.
    remove) [ -e "$2$removed" ] || mv -f "$2" "$2$removed" || rm -f "$2" ;;
  esac
}

# What waits beside a file is gone. Sets $begun where that was put back already: the file is what the agent's copy of it says,
# or nobody can tell. Otherwise somebody took it away, and it is laid there once more: a copy needs room, which nothing else
# here does, and where there is none the others are put back all the same.
look_closer() {
  cmp -s "$here/copies$1" "$1"
  if [ $? = 1 ]; then
    cp -p "$here/copies$1" "$1$temporary" && mv -f "$1$temporary" "$1$suffix"
  else
    begun=yes
  fi
}

# A kubelet's limit on another unit outlives it: without this, the next one may starve in its slice. Until the next boot only,
# as the kubelet set it.
lift_limit() {
  case $1 in
    -* | *[!0-9A-Za-z@._:\\\ =-]* | *' '*' '*) return ;;
  esac
  systemctl set-property --runtime "${1%% *}" "${1#* }" || say "no longer holds, and stays: $1"
}

# Goes through the files of a plan in order: `restore` puts each back, `tidy` removes what is beside it, `look` sees that all
# of them can be put back, and sets $begun where some were already. `lift` takes back what the kubelet limited elsewhere.
each_file() {
  lines=0 begun=no
  [ -f "$1" ] && [ -r "$1" ] || return 1
  while [ "$lines" -lt "$most_lines" ] && IFS= read -r line <&4; do
    lines=$((lines + 1))
    case $2:$line in
      'restore:put /'* | 'restore:put-empty /'* | 'restore:remove /'*) restore_file "${line%% *}" "${line#* }" ;;
      'tidy:put /'* | 'tidy:put-empty /'*) [ -d "${line#* }$suffix" ] || rm -f "${line#* }$suffix" ;;
      'tidy:remove /'*) [ -d "${line#* }$removed" ] || rm -f "${line#* }$removed" ;;
      'look:put /'* | 'look:put-empty /'*) [ -e "${line#* }$suffix" ] || look_closer "${line#* }" ;;
      'lift:limit '*) lift_limit "${line#limit }" ;;
      'look:remove /'*) [ ! -e "${line#* }$removed" ] || begun=yes ;;
    esac
  done 4<"$1"
  return 0
}

# Sets $count, the kubelet's starts in this boot, and $first, the machine's age at the first of them (empty: unknown).
read_starts() {
  count=0 first=
  first_line "$here/starts" || return
  # shellcheck disable=SC2086
  set -- $line
  [ "${1-}" = "$boot" ] || return
  if is_number "${2-}"; then count=$2; fi
  if is_number "${3-}"; then first=$3; fi
}

# Reads the boot that the kubelet started in last: its id as $of, as $lost how many boots in a row were lost before it, and as $since
# the machine's age at that start (empty: it is not lost itself). All of it is there twice: half a line says nothing.
read_boot() {
  of='' lost=0 since=''
  first_line "$here/boots" || return
  # shellcheck disable=SC2086
  set -- $line
  [ "$*" = "${1-} ${2-} ${3-} ${1-} ${2-} ${3-}" ] || return
  of=$1
  if is_number "$2"; then lost=$2; fi
  if is_number "$3"; then since=$3; fi
}

write_boot() {
  half=$(printf '%-36s %10d %12s' "$boot" "$lost" "$1")
  write_line "$here/boots" "$half $half" && unsynced=yes
}

# Sets $lost: how many boots in a row up to the one before this were lost, which is that they ended soon after the kubelet's start,
# without a sign of the agent after it.
count_boots() {
  read_boot
  [ "$boot" != unknown ] && [ "$of" != "$boot" ] || return
  first_line "$here/alive"
  # shellcheck disable=SC2086
  set -- $line
  if [ -z "$since" ] || { [ "${1-}" = "$of" ] && is_number "${2-}" && [ "$2" -gt "$since" ]; }; then
    lost=0
  else
    lost=$((lost + 1))
  fi
  [ -z "$now" ] || write_boot "$now"
}

# Writes down that this boot is not lost, as soon as that is so: the agent's sign of life is not on the disk yet.
spare_boot() {
  read_boot
  [ "$of" = "$boot" ] && [ -n "$since" ] && [ -n "$now" ] || return
  read_alive
  [ "${sign:-0}" -gt "$since" ] || [ $((now - since)) -ge "$whole_boot" ] || return
  write_boot -
}

# The count only: where the disk does not answer, the rest is done, and main gives up in time. dd would make a file that another run has
# cleaned up meanwhile.
sync_boots() {
  [ -z "$unsynced" ] || [ ! -e "$here/boots" ] || dd if=/dev/null of="$here/boots" conv=notrunc,fsync || sync "$here/boots"
}

# Sets $sign, the machine's age at the agent's last sign of life in this boot, and $pod, the uid of the agent's pod; empty where
# that is unknown. Fails where there is no sign.
read_alive() {
  sign='' pod=''
  first_line "$here/alive" || return
  # shellcheck disable=SC2086
  set -- $line
  [ "${1-}" = "$boot" ] || return
  if is_number "${2-}" && [ -n "$now" ] && [ "$2" -le "$now" ]; then sign=$2; fi
  case ${3-} in
    *[!0-9a-f-]*) ;;
    *) pod=${3-} ;;
  esac
}

# Sets $quiet: for how many seconds the agent has been silent in this boot. Fails where that cannot be known.
look_for_agent() {
  quiet=
  [ -n "$now" ] || return
  since=${first:-0}
  [ "$since" -le "$now" ] || since=0
  if read_alive && [ "${sign:-0}" -gt "$since" ]; then since=$sign; fi
  quiet=$((now - since))
}

is_down() {
  case $(systemctl is-active "$unit") in
    inactive | failed) return 0 ;;
  esac
  return 1
}

# Whether somebody stopped the unit, which no failure of it ends in: then it stays stopped, and starts with what was put back.
is_stopped() {
  case $(systemctl show -p ActiveState -p Result -p Job "$unit") in
    *Job=[1-9]*) return 1 ;;
    *ActiveState=inactive*Result=success* | *Result=success*ActiveState=inactive*) return 0 ;;
  esac
  return 1
}

# Sets $sub, $pid and $run: the unit's state, its main process, and the id of its present run. Fails where there is none.
look_at_run() {
  sub='' pid='' run=''
  for shown in $(systemctl show -p SubState -p MainPID -p InvocationID "$unit"); do
    case $shown in
      SubState=*) sub=${shown#*=} ;;
      MainPID=*) pid=${shown#*=} ;;
      InvocationID=*) run=${shown#*=} ;;
    esac
  done
  is_number "$pid" && [ -n "$run" ]
}

# Adds to $count how often the kubelet ended in this run of a unit that starts it again itself, as RKE2 and k0s do, and say. Nobody
# else's words begin like that: those of a kubelet begin with its own time, and k0s adds where they came from.
count_ends() {
  look_at_run || return
  ends=$(journalctl -q -o cat "_SYSTEMD_INVOCATION_ID=$run" | grep -c -e '^time="[^"]*" level=error msg="Kubelet exited: ' \
    -e '^time="[^"]*" level=info msg="respawning in [^"]*" component=kubelet$')
  if is_number "$ends"; then count=$((count + ends)); fi
}

# Whether the unit is a program that starts the kubelet itself and has not done so in this run (it waits for its server, and says so
# when it begins): the kubelet that begins then reads the files that are there. For systemd, k0s runs while it waits.
is_waiting() {
  look_at_run || return
  case $sub in
    start) programs='k3s|rke2' ;;
    running) programs=k0s ;;
    *) return 1 ;;
  esac
  grep -E -q "^[^-]*/($programs)([^a-z0-9./-]|\$)" "$proc/$pid/cmdline" || return
  journalctl -q -o cat -n 1 "_SYSTEMD_INVOCATION_ID=$run" | grep -q . || return
  ! journalctl -q -o cat "_SYSTEMD_INVOCATION_ID=$run" | grep -q -e '^time="[^"]*" level=[a-z]* msg="Running kubelet ' -e 'Starting to supervise" component=kubelet'
}

# What the agent reads later: cause, starts, whether the kubelet was started again, and when this was.
write_note() {
  at=$(date -u +%Y-%m-%dT%H:%M:%SZ) || at=-
  write_line "$here/note" "$(printf '%-8s %10d %-3s %-20s' "$1" "$count" "$2" "${at:--}")"
}

# Takes the trial back: cause, and whether the kubelet starts with it anyway. The plan is renamed last, so that whoever comes
# next goes on where this was interrupted; the note comes first, so that they know why.
fire() {
  say "taking the trial back ($1, counted $count)"
  write_note "$1" "$2"
  each_file "$here/plan" look
  each_file "$here/plan" restore || return
  if [ -d "$here/fired" ]; then rm -rf "$here/fired"; fi
  mv -f "$here/plan" "$here/fired" && each_file "$here/fired" lift
}

# A unit that was started too often, or failed, is started nonetheless.
order_restart() {
  if is_waiting; then
    say "$unit has not started its kubelet yet: it is not restarted"
    write_note "$1" yes
    return
  fi
  systemctl reset-failed "$unit"
  for pause in 1 2 0; do
    if systemctl --no-block restart "$unit"; then
      say "ordered a restart of $unit"
      write_note "$1" yes
      return
    fi
    sleep "$pause"
  done
  say "systemd does not restart $unit"
}

# Whether the note says that the kubelet was not started again yet; sets $cause and $count from it.
needs_restart() {
  cause=unknown count=0
  first_line "$here/note" || return
  # shellcheck disable=SC2086
  set -- $line
  case ${1-} in
    starts | silence | down | boots) cause=$1 ;;
  esac
  if is_number "${2-}"; then count=$2; fi
  [ "${3-}" = no ]
}

# Whether somebody was cut off while putting back what a plan names, killed or without power: then some files are of one
# config and some of another, and no kubelet may start with that.
is_half_done() {
  each_file "$1" look && [ "$begun" = yes ]
}

ensure_timer() {
  # Only what needs no quotes, neither in a shell nor in systemd.
  case $0 in
    *[!0-9A-Za-z/@._:+,=-]*) return ;;
    /*) ;;
    *) return ;;
  esac
  command -v systemd-run && command -v systemctl || return
  systemctl is-active --quiet "$timer.timer" && return
  systemctl reset-failed "$timer.service"
  # No semicolon: systemd-run writes it with a backslash, which systemd keeps when it reads its units again (seen with 252), and
  # the script would not know its mode. Before version 220 systemd-run knows no --no-block.
  for block in --no-block --quiet; do
    systemd-run "$block" --quiet --unit="$timer" --description='Takes a trial of kubelet-gitops back' \
      --on-active=15 --on-unit-inactive=15 --timer-property=AccuracySec=1s \
      /bin/sh -c "test -f '$0' && exec /bin/sh '$0' tick || exec systemctl --no-block stop $timer.timer" && return
  done
}

write_starts() {
  write_line "$here/starts" "$(printf '%-36s %10d %12s' "$boot" "$1" "$2")"
}

count_start() {
  read_starts
  count=$((count + 1))
  [ -n "$first" ] || first=${now:--}
  write_starts "$count" "$first"
  is_number "$first" || first=
  look_for_agent
}

start() {
  look_at_time
  if read_plan "$here/plan"; then
    lost=0
    # In the boot of a promotion the agent was there.
    [ "$watch" = "$boot" ] || count_boots
    [ -n "$watch" ] || count_start
    if is_half_done "$here/plan"; then
      needs_restart
      fire "$cause" yes
    elif [ "$lost" -ge "$most_lost" ]; then
      count=$lost
      fire boots yes
    elif [ -n "$watch" ]; then
      [ "$watch" != "$boot" ] || await_agent || return
    elif [ "$count" -gt "$max_starts" ]; then
      fire starts yes
    elif [ -n "$quiet" ] && [ "$quiet" -ge "$silence" ]; then
      fire silence yes
    fi
    ensure_timer
  elif read_plan "$here/fired"; then
    # Where the power was lost, a plan can be renamed and what it put back lost all the same. Done already is fine.
    each_file "$here/fired" restore
    each_file "$here/fired" lift
    # The kubelet starts with what was put back. Where not even that can be noted, nobody may go on restarting it.
    if needs_restart && ! write_note "$cause" yes; then return; fi
    ensure_timer
  fi
}

tick() {
  look_at_time
  if read_plan "$here/plan"; then
    spare_boot
    read_starts
    if is_half_done "$here/plan"; then
      # A start that ran out of time: the kubelet runs with files of two configs.
      needs_restart
      act
    elif [ -z "$watch" ]; then watch_trial; elif [ "$watch" = "$boot" ]; then watch_start; else watch_boot; fi
  else
    tidy
  fi
}

watch_trial() {
  look_for_agent
  cause=
  if [ -n "$quiet" ] && [ "$quiet" -ge "$silence" ]; then
    cause=silence
  elif [ "${quiet:-0}" -ge "$short_silence" ]; then
    if is_down; then
      is_stopped || cause=down
    elif count_ends && [ "$count" -gt "$max_starts" ]; then
      # As often as an earlier tick counted: the kubelet may be up since.
      if read_doubt && [ "$count" -le "$doubt" ]; then return; fi
      cause=starts
    fi
  fi
  act
}

# Whether what the kubelet fetched for a pod (its uid as a pattern) is mounted: 0, or 1 where it is not, or more where nobody can
# tell. It is fetched from the API server for its pods only, not for static ones, and mounts end with a boot: so the API server
# gave this kubelet the pod in this boot. No shell reads thousands of lines of /proc in time: bash seeks back after each of them,
# for which the kernel begins at the first, and the others read byte by byte.
has_pod() {
  [ -f "$proc/mounts" ] || return 2
  grep -q -e " /[^ ]*/pods/$1/volumes/kubernetes\.io~projected/[^ ]* " \
    -e " /[^ ]*/pods/$1/volumes/kubernetes\.io~secret/[^ ]* " "$proc/mounts"
}

is_gone() {
  has_pod "$1"
  [ $? = 1 ]
}

# Writes down that something is so since now: 1 is the first of two, 2 the other.
since_now() {
  [ -z "$now" ] || write_starts "$1" "$now"
}

no_more() {
  [ "$count" = 0 ] || write_line "$here/starts" "$(printf '%-61s' -)"
}

# Nothing is on trial. An agent that does not come up beside other pods is what it looks like. Its time counts from the first of
# them, while the kubelet is up: where the API server is away, no pod starts, and that says nothing.
watch_boot() {
  if read_alive; then
    systemctl --no-block stop "$timer.timer"
    return
  fi
  cause=
  if [ "$(systemctl is-active "$unit")" != active ] || ! has_pod '[^/ ]*'; then
    no_more
  elif [ "$count" = 0 ] || [ -z "$first" ]; then
    since_now 1
  else
    look_for_agent
    if [ -n "$quiet" ] && [ "$quiet" -ge "$silence" ]; then cause=silence; fi
  fi
  act
}

# The kubelet starts in the boot of the promotion. In the trial the agent lived on under this config, but it may be refused now.
# Fails where no agent was there before, or nobody can tell: then its absence says nothing.
await_agent() {
  read_starts
  if read_alive && [ -n "$pod" ] && has_pod "$pod"; then since_now 1; else [ "$count" != 0 ]; fi
}

# After such a start. An agent that is silent says nothing: it may be hung, or the API server away, without which it gives no sign
# and the kubelet ends no pod. One whose pod this kubelet has ended, and that does not come back in another, is what it looks like.
watch_start() {
  cause=
  read_alive
  if [ "$count" = 0 ] || [ -z "$first" ] || { [ "$count" = 1 ] && [ "${sign:-0}" -ge $((first + settled)) ]; }; then
    no_more
    systemctl --no-block stop "$timer.timer"
    return
  fi
  if [ "$(systemctl is-active "$unit")" != active ] || [ -z "$pod" ] || ! is_gone "$pod"; then
    [ "$count" = 1 ] || since_now 1
  elif [ "$count" = 1 ]; then
    since_now 2
  elif [ -n "$now" ] && [ $((now - first)) -ge "$silence" ]; then
    cause=silence
  fi
  act
}

# Sets $doubt to the starts that an earlier tick counted which saw a cause; fails where the one before saw none.
read_doubt() {
  first_line "$here/doubt" || return
  doubt=${line##* }
  is_number "$doubt" || doubt=0
  [ "${line%% *}" = "$boot" ]
}

write_doubt() {
  write_line "$here/doubt" "$(printf '%-36s %10d' "$1" "$count")"
}

# Acts on what two ticks in a row have seen ($cause): after a pause of the whole machine the agent needs a moment, too.
act() {
  if [ -z "$cause" ]; then
    read_doubt && write_doubt -
  elif read_doubt || { ! write_doubt "$boot" && [ "$cause" = silence ]; }; then
    fire "$cause" no && ! is_stopped && order_restart "$cause"
  fi
}

# Nothing is on trial any more. Where the trial was taken back and nobody has fetched the note yet, that stays,
# with what the agent needs to clean up.
tidy() {
  if read_plan "$here/fired"; then
    # Until it is started, the files are put back at its start, and the timer asks again.
    if needs_restart; then
      is_stopped && return
      order_restart "$cause"
    fi
    case $drop_in in
      */"$drop_in_name")
        # From here on nobody puts anything back again: it has to be on the disk.
        sync
        if [ -f "$drop_in" ]; then rm -f "$drop_in"; fi
        if [ ! -e "$drop_in" ]; then
          systemctl daemon-reload
          each_file "$here/fired" tidy
          rm -rf "$here/copies"
          rm -f "$here/starts" "$here/boots" "$here/alive" "$here/doubt" "$0"
        fi
        ;;
    esac
  fi
  systemctl --no-block stop "$timer.timer"
}

# Does the work in a process of its own and waits for an alarm only, which the work ends when it is done: so that it ends in
# time although a disk does not answer.
main() {
  case $mode in
    start | tick) ;;
    *) return ;;
  esac
  # The journal hears of it, where there is one.
  if { true >&2; } 2>/dev/null; then exec 3>&2; else exec 3>/dev/null; fi
  exec </dev/null >/dev/null 2>&1
  sleep "$patience" 3>&- &
  alarm=$!
  (
    trap 'kill -9 "$alarm"' EXIT
    case $mode in
      start) start ;;
      tick) tick ;;
    esac
    sync_boots
  ) &
  work=$!
  wait "$alarm"
  case $? in
    0) kill -9 "$work" ;;
    137) ;;
    *) wait "$work" ;;
  esac
}

main
exit 0
