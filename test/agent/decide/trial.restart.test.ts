import { differ, lost, blocked, run, unseenService, rebooted, table } from '../../support/agent/decision-table.ts';
import { B, DOWN, INSTALLING, onTrial, RESTARTING, seen, wanting } from '../../support/agent/states.ts';

table('a trial up to the restart', {
  'installs until the files are in place': [
    onTrial(INSTALLING),
    seen(wanting(B), differ),
    'trial (install): B, good A → install B',
  ],
  'orders the restart once they are': [onTrial(INSTALLING), seen(wanting(B)), 'trial (restart): B, good A → restart'],
  'waits for what hinders the installation, if that may pass': [
    onTrial(INSTALLING),
    seen(wanting(B), blocked(false)),
    'trial (install): B, good A',
  ],
  'ends where it cannot be installed': [
    onTrial(INSTALLING),
    seen(wanting(B), blocked(true)),
    'falling-back (install): B, active A, CannotInstall → install A',
  ],
  'ends where its checkpoint is lost': [
    onTrial(INSTALLING),
    seen(lost),
    'falling-back (install): B, active A, CheckpointLost → install A',
  ],
  'waits for the restart that it ordered as long as the kubelet may take to start': [
    onTrial({ ...RESTARTING, waitedMs: 114_999 }),
    seen(wanting(B)),
    'trial (restart): B, good A',
  ],
  'waits half a minute before it orders again what could not be carried out': [
    onTrial({ ...RESTARTING, waitedMs: 24_999 }),
    seen(wanting(B), { restart: 'failed' }),
    'trial (restart): B, good A',
  ],
  'waits for the restart that it ordered': [onTrial(RESTARTING), seen(wanting(B)), 'trial (restart): B, good A'],
  'orders it again when nothing came of it': [
    onTrial({ ...RESTARTING, waitedMs: 115_000 }),
    seen(wanting(B)),
    'trial (restart): B, good A → restart',
  ],
  'orders it again sooner when it could not be carried out': [
    onTrial({ ...RESTARTING, waitedMs: 25_000 }),
    seen(wanting(B), { restart: 'failed' }),
    'trial (restart): B, good A → restart',
  ],
  'judges the new run': [onTrial(RESTARTING), seen(wanting(B), run('run-2')), 'trial (judge): B, good A'],
  'judges after a reboot, which started the kubelet too': [
    onTrial(RESTARTING),
    seen(wanting(B), rebooted),
    'trial (judge): B, good A',
  ],
  'judges when the old process is gone and no new one stays': [
    onTrial(RESTARTING),
    seen(wanting(B), run(null), DOWN),
    'trial (judge): B, good A',
  ],
  'does not take a silent service manager for a restart': [
    onTrial(RESTARTING),
    seen(wanting(B), unseenService),
    'trial (restart): B, good A',
  ],
  'relies on its own order where there are no runs to see': [
    onTrial({ ...RESTARTING, runBefore: null }),
    seen(wanting(B), unseenService, { restart: 'done' }),
    'trial (judge): B, good A',
  ],
  'goes on with files that are not in place for three and a half minutes, but for a millisecond': [
    onTrial({ step: 'install', spentMs: 204_999 }),
    seen(wanting(B), differ),
    'trial (install): B, good A → install B',
  ],
  'fails where they are not in place by then': [
    onTrial({ step: 'install', spentMs: 205_000 }),
    seen(wanting(B), differ),
    'falling-back (install): B, active A, CannotInstall → install A',
  ],
});
