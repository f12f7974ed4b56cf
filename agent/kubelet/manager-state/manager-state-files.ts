import { join } from 'node:path';
import { NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { type ConfigView, viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import type { Disk } from '../../ports/disk.ts';
import { isTemporary } from '../../host/disk/node-disk.ts';
import type { GuardedFile } from '../../ports/guard.ts';
import { cpuStateRequirement } from './cpu-manager-state.ts';
import { type StateRequirement, withPodLevelFormat } from './state-requirement.ts';
import { memoryStateRequirement } from './memory-manager-state.ts';
import { createSavedStateFileStore, digestOf } from './saved-state-files.ts';
import { type StateFileChange, changeFor, type StateFile, type StateFileMove } from './state-file-change.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * The state files in the kubelet's root directory that remember how running pods were placed, and that a kubelet with
 * another config may refuse to start with. (`state_checkpoint.go` of each manager: an error there ends the kubelet.)
 *
 * `dra_manager_state`, the third of them, is left alone: it lists prepared claims and nothing of the config (kubelets 1.26
 * to 1.36, `cm/dra/state`; the gate alone says whether it is read). Without it, devices would never be released.
 */
const STATE_FILES: Readonly<Record<string, (config: ConfigView) => StateRequirement>> = {
  cpu_manager_state: cpuStateRequirement,
  memory_manager_state: memoryStateRequirement,
};

interface ManagerStateOptions {
  readonly disk: Disk;
  readonly stateDirectory: string;
  readonly nodeName: string;
  /** The kubelet's `--root-dir`. */
  readonly rootDirectory: string;
}

/** Sees that the kubelet starts with the state files that it finds, and loses none that may be needed again. */
interface ManagerStateFiles {
  /**
   * To be called before the files of a config are written, and again before the kubelet is restarted: until it stops, the
   * old one may write its state again. Takes away what does not fit, and touches nothing else. Safe to repeat after a
   * crash at any point.
   */
  removeUnfit(move: ConfigMove): Promise<void>;
  /**
   * To be called when the files are written: puts back what was put aside and fits. Not earlier, because a kubelet starts
   * with any config and no state, but not with the old config and the state of the new one.
   */
  restore(move: ConfigMove): Promise<void>;
  /** The state files as both would leave them for `to` now, where a kubelet with `trial` may change that. Reads only. */
  fallbackFiles(now: ConfigNow, trial: Config, to: Config): Promise<readonly GuardedFile[]>;
  /** To be called when nothing is on trial any more. */
  forget(): Promise<void>;
}

export interface ConfigNow {
  /** The config that the files on disk make the kubelet run; undefined if unknown. */
  readonly present: Config | undefined;
  /** Of the kubelet; undefined if unknown. */
  readonly minor: number | undefined;
}

export interface ConfigMove extends ConfigNow {
  readonly wanted: Config;
}

export function createManagerStateFiles({
  disk,
  stateDirectory,
  nodeName,
  rootDirectory,
}: ManagerStateOptions): ManagerStateFiles {
  const store = createSavedStateFileStore(disk, stateDirectory, nodeName);

  /** Null for a missing or unreadable file: only the node's owner can fix that. */
  const look = async (path: string): Promise<StateFile | null> => {
    const stat = await disk.stat(path);
    if (stat?.kind !== 'file') return null;
    const bytes = await disk.read(path).catch(() => null);
    return bytes === null ? null : { bytes, owner: { mode: stat.mode, uid: stat.uid, gid: stat.gid } };
  };
  const movesOf = async ({ present, wanted, minor }: ConfigMove): Promise<readonly FileMove[]> => {
    const view = (config: Config): ConfigView =>
      viewOf(config, Math.min(minor ?? NEWEST_MINOR, NEWEST_MINOR), 'replace');
    return Promise.all(
      Object.entries(STATE_FILES).map(async ([file, demandOf]) => {
        const path = join(rootDirectory, file);
        const demand = (config: Config): StateRequirement => withPodLevelFormat(view(config), demandOf(view(config)));
        const move: StateFileMove = {
          found: await look(path),
          known: await store.read(file).catch(() => null),
          presentBasis: present === undefined ? undefined : demand(present).basis,
          wanted: demand(wanted),
        };
        return { file, path, move, change: changeFor(move) };
      }),
    );
  };

  return {
    async removeUnfit(configs) {
      for (const { file, path, move, change } of await movesOf(configs)) {
        if (change.damaged !== undefined) await store.keepDamaged(file, change.damaged);
        // First what was there is safe, and what is meant is known.
        if (change.known !== undefined) await store.save(file, change.known);
        if (move.found !== null && (change.isRemoved || change.put !== undefined)) await disk.remove(path);
      }
    },
    async restore(configs) {
      for (const { path, move, change } of await movesOf(configs)) {
        if (move.found === null && change.put !== undefined) {
          await disk.replace(path, change.put.bytes, change.put.owner);
        }
      }
    },
    async fallbackFiles(now, trial, to) {
      const ways = await movesOf({ ...now, wanted: to });
      const there = await movesOf({ ...now, wanted: trial });
      return ways.flatMap(({ path, move, change }, index) => {
        const after = afterwards(move, change);
        const isKept = there[index]?.move.wanted.basis === move.wanted.basis;
        if (isKept && digestOf(after?.bytes ?? null) === digestOf(move.found?.bytes ?? null)) return [];
        return [after === null ? { path, bytes: null } : { path, bytes: after.bytes, owner: after.owner }];
      });
    },
    async forget() {
      await store.forget();
      // What was left half-written here is not overwritten.
      const isOurs = (name: string): boolean =>
        isTemporary(name) && Object.keys(STATE_FILES).some((file) => name.startsWith(file));
      for (const name of await disk.list(rootDirectory)) if (isOurs(name)) await disk.remove(join(rootDirectory, name));
    },
  };
}

interface FileMove {
  readonly file: string;
  readonly path: string;
  readonly move: StateFileMove;
  readonly change: StateFileChange;
}

function afterwards({ found }: StateFileMove, { put, isRemoved }: StateFileChange): StateFile | null {
  return put ?? (isRemoved ? null : found);
}
