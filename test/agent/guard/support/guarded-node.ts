import { dirname } from 'node:path';
import type { GuardedFile, GuardOrder } from '#agent/ports/guard.ts';
import { createHostGuard } from '#agent/guard/host-guard.ts';
import { createMemoryDisk, type MemoryDisk } from '../../../support/agent/memory-disk.ts';
import { createFakeSystemd, type FakeSystemd } from './fake-systemd.ts';

export const STATE = '/var/lib/kubelet-gitops';
export const UNIT_DIRECTORY = '/etc/systemd/system/kubelet.service.d';
export const DROP_IN = `${UNIT_DIRECTORY}/90-kubelet-gitops-guard.conf`;
export const CONFIG = '/var/lib/kubelet/config.yaml';
export const FLAGS = '/etc/kubernetes/kubelet.conf.d/99-kubelet-gitops.conf';
const OWNER = { mode: 0o644 };

export const put = (path: string, text: string): GuardedFile => ({ path, bytes: Buffer.from(text), owner: OWNER });

/** Two orders that lead to the same. */
export const ORDER: GuardOrder = {
  trial: 'pool-abc/1234/overlay@5',
  to: 'local',
  maxStarts: 5,
  silenceSeconds: 720,
  restore: [put(CONFIG, 'old'), { path: '/var/lib/kubelet/memory_manager_state', bytes: null }, put(FLAGS, 'flags')],
};

export const OTHER: GuardOrder = { ...ORDER, trial: 'pool-def/5678/overlay@9', restore: [put(CONFIG, 'older')] };

/** A node in memory with the agent's own guard on it, over a systemd that only remembers. */
export function createNode() {
  const disk = createMemoryDisk();
  for (const path of [CONFIG, FLAGS, `${STATE}/meta/trial`]) {
    let directory = '';
    for (const part of dirname(path).split('/').slice(1)) {
      directory += `/${part}`;
      if (disk.tree()[directory] === undefined) disk.plant(directory, { directory: true });
    }
    disk.plant(path, 'new');
  }
  disk.plant('/etc/systemd', { directory: true });
  disk.plant('/etc/systemd/system', { directory: true });
  const systemd = createFakeSystemd(disk, DROP_IN);
  let now = 0;
  const guardOn = (state = STATE, unitDirectory = UNIT_DIRECTORY, bus: FakeSystemd = systemd, watchesBoots = false) =>
    createHostGuard({
      disk,
      stateDirectory: state,
      unit: 'kubelet.service',
      unitDirectory,
      systemd: bus,
      script: () => Promise.resolve(Buffer.from('the script\n')),
      bootId: () => Promise.resolve('boot-1'),
      uptimeSeconds: () => Promise.resolve(1000.7 + now / 1000),
      watchesBoots,
    });
  return {
    disk,
    systemd,
    guardOn,
    guard: guardOn(),
    pass: (ms: number) => {
      now += ms;
    },
  };
}

/** What `look` says of a guard that is armed for this. */
export const armedFor = ({ trial, to }: GuardOrder) => ({ guard: 'armed', trial, to });
/** Half of an arming or a disarming. */
export const REMNANTS = { guard: 'armed', trial: '', to: '' };

export const textIn = (disk: MemoryDisk, path: string): string | undefined => disk.tree()[path];
