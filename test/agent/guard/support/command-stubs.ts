/**
 * Writes down how it was called, and kills its whole process group where it is told to. Thousands of calls are made: what the shell
 * can do by itself costs no process.
 */
const RECORDING = `#!/bin/sh
PATH=/usr/bin:/bin
printf '%s %s\\n' "\${0##*/}" "$*" >>"$STUBS_ROOT/log"
if [ "$STUBS_KILL_AT" != 0 ]; then
  calls=0
  [ ! -e "$STUBS_ROOT/count" ] || read -r calls <"$STUBS_ROOT/count"
  calls=$((calls + 1))
  echo "$calls" >"$STUBS_ROOT/count"
  if [ "$calls" -ge "$STUBS_KILL_AT" ]; then kill -9 0; fi
fi
`;

/** As much of systemd as the guard sees: a unit whose state is in the file "unit", and a timer while there is a file "timer". */
const SYSTEMCTL = `
case "$*" in
  'is-active --quiet kubelet-gitops-guard.timer') [ -e "$STUBS_ROOT/timer" ] ;;
  'is-active kubelet.service') cat "$STUBS_ROOT/unit" ;;
  'show -p ActiveState -p Result -p Job kubelet.service') cat "$STUBS_ROOT/shown" ;;
  'show -p SubState -p MainPID -p InvocationID kubelet.service') [ ! -e "$STUBS_ROOT/run" ] || cat "$STUBS_ROOT/run" ;;
  '--no-block stop kubelet-gitops-guard.timer') rm -f "$STUBS_ROOT/timer" ;;
  'set-property '*) [ ! -e "$STUBS_ROOT/no-property" ] ;;
  '--no-block restart kubelet.service') [ ! -e "$STUBS_ROOT/no-restart" ] ;;
esac
`;

const SYSTEMD_RUN = `
[ ! -e "$STUBS_ROOT/timer" ] || exit 1
[ "$1" != --no-block ] || [ ! -e "$STUBS_ROOT/old-systemd" ] || exit 1
touch "$STUBS_ROOT/timer"
`;

const HANGING = `hang=
[ ! -e "$STUBS_ROOT/hang" ] || read -r hang <"$STUBS_ROOT/hang"
`;

/** The guard's whole PATH. A file "hang" names a command that never ends; its process is in the file "hung" then. */
export const STUBS: Readonly<Record<string, string>> = {
  systemctl: RECORDING + SYSTEMCTL,
  'systemd-run': RECORDING + SYSTEMD_RUN,
  ...Object.fromEntries(
    ['mv', 'rm', 'cp', 'cmp', 'date', 'grep', 'dd'].map((name) => [
      name,
      `${RECORDING}${HANGING}[ "$hang" != ${name} ] || { echo $$ >"$STUBS_ROOT/hung"; exec sleep 300; }\nexec ${name} "$@"\n`,
    ]),
  ),
  journalctl: `${RECORDING}[ ! -e "$STUBS_ROOT/journal" ] || cat "$STUBS_ROOT/journal"\n`,
  // Not counted: the alarm runs beside everything else. Nobody waits for a pause between two tries.
  sleep: `#!/bin/sh\nPATH=/usr/bin:/bin\ncase $1 in 0 | 1 | 2) exit 0 ;; esac\nexec sleep "$@"\n`,
};
