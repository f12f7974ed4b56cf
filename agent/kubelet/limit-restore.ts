import { join } from 'node:path';
import { NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { type ConfigView, viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import {
  type CgroupVersion,
  cgroupFileOf,
  isLimit,
  type LimitName,
  type UnitLimits,
  limitsSetBy,
  busValueOf,
  parseLimitName,
  limitsToRestore,
  limitsToRecord,
  systemdValueOf,
} from '../decide/cgroup-limits.ts';
import type { HostFiles } from '../host/host-files.ts';
import { asRecord, checkStamp, parseRaw, stampOf } from '../host/record-shape.ts';
import type { Disk } from '../ports/disk.ts';
import type { ConfigMove } from './manager-state/manager-state-files.ts';

interface LimitRestorerOptions {
  readonly disk: Disk;
  readonly stateDirectory: string;
  readonly nodeName: string;
  readonly files: HostFiles;
  /** `systemctl set-property --runtime`. @throws where systemd does not do it */
  readonly setProperty: (unit: string, property: string, value: bigint) => Promise<void>;
  /** What could not be noted, or lifted. It keeps no node from its config, nor from its way back. */
  readonly onFault: (what: string, error: unknown) => void;
}

/** Takes back what kubelets limited outside of their pods, with the config that had them do it. */
export interface LimitRestorer {
  /** To be called before the files of a config are written. If the present limits are unknown, nothing is recorded. */
  record(move: ConfigMove): Promise<void>;
  /** To be called when they are written: what this config does not set becomes what it was. Tried again at the next call. */
  restore(move: ConfigMove): Promise<void>;
  /** The limits that the guard has to lift when it falls back to this config. Reads only. */
  fallbackLimits(move: ConfigMove): Promise<UnitLimits>;
}

export const noLimits: LimitRestorer = {
  record: () => Promise.resolve(),
  restore: () => Promise.resolve(),
  fallbackLimits: () => Promise.resolve({}),
};

type Config = ConfigMove['wanted'];

const ROOT = '/sys/fs/cgroup';

const viewFor = (config: Config, minor = NEWEST_MINOR): ConfigView =>
  viewOf(config, Math.min(minor, NEWEST_MINOR), 'replace');

/** Keeps its notes in the file `limits` of the state directory: JSON, versioned. */
export function createLimitRestorer(options: LimitRestorerOptions): LimitRestorer {
  const { disk, stateDirectory, nodeName, files, setProperty, onFault } = options;
  const path = join(stateDirectory, 'limits');

  const version = async (): Promise<CgroupVersion> =>
    (await files.kind(`${ROOT}/cgroup.controllers`)) === 'file' ? 2 : 1;

  const noted = async (): Promise<UnitLimits> => {
    try {
      const bytes = await disk.read(path);
      if (bytes === null) return {};
      const limits = asRecord(checkStamp(parseRaw(bytes.toString('utf8')), nodeName)['limits'], 'limits');
      return Object.fromEntries(Object.entries(limits).filter(([name, value]) => isLimit(name, value))) as UnitLimits;
    } catch {
      return {};
    }
  };

  const save = async (limits: UnitLimits): Promise<void> => {
    if (Object.keys(limits).length === 0) return disk.remove(path);
    await disk.replace(path, Buffer.from(`${JSON.stringify({ ...stampOf(nodeName), limits })}\n`), { mode: 0o600 });
  };

  /** Undefined where the cgroup is not seen: then the kubelet has nothing to limit. */
  const now = async (name: LimitName, cgroups: CgroupVersion): Promise<string | undefined> => {
    const [unit, property] = parseLimitName(name);
    const directory = await cgroupOf(unit, cgroups, files);
    if (directory === undefined) return undefined;
    return systemdValueOf(property, await files.text(join(ROOT, cgroupFileOf(property, directory, cgroups))));
  };

  return {
    async record({ present, wanted, minor }) {
      const cgroups = await version();
      const setBy = (config: Config): readonly LimitName[] => limitsSetBy(viewFor(config, minor), cgroups);
      const before = await noted();
      const names = present === undefined ? [] : limitsToRecord(setBy(wanted), setBy(present), before);
      const seen = await Promise.all(names.map(async (name) => [name, await now(name, cgroups)] as const));
      const added = seen.filter(([, value]) => value !== undefined) as readonly (readonly [LimitName, string])[];
      if (added.length === 0) return;
      try {
        await save({ ...before, ...Object.fromEntries(added) });
      } catch (error) {
        onFault(
          `what ${added.map(([name]) => name).join(', ')} is now cannot be noted, and will not be put back`,
          error,
        );
      }
    },
    async restore({ wanted, minor }) {
      const before = await noted();
      const lifted = limitsToRestore(before, limitsSetBy(viewFor(wanted, minor), await version()));
      if (Object.keys(lifted).length === 0) return;
      const left: Record<string, string> = { ...before };
      try {
        for (const [name, value] of Object.entries(lifted)) {
          await setProperty(...parseLimitName(name), busValueOf(value));
          delete left[name];
        }
      } catch (error) {
        onFault(`a limit that an earlier config set stays on ${Object.keys(left).join(', ')}`, error);
      }
      await save(left).catch((error: unknown) => onFault('the notes of limits cannot be written', error));
    },
    fallbackLimits: async ({ wanted, minor }) =>
      limitsToRestore(await noted(), limitsSetBy(viewFor(wanted, minor), await version())),
  };
}

/** A slice lies in those that its name begins with; of another unit only those right below the usual slice are found. */
async function cgroupOf(unit: string, version: CgroupVersion, files: HostFiles): Promise<string | undefined> {
  const root = version === 2 ? ROOT : `${ROOT}/memory`;
  const parts = unit.replace(/\.slice$/, '').split('-');
  const slice = parts.map((_, index) => `${parts.slice(0, index + 1).join('-')}.slice`).join('/');
  for (const directory of unit.endsWith('.slice') ? [slice] : [`system.slice/${unit}`, unit]) {
    if ((await files.kind(join(root, directory))) === 'directory') return directory;
  }
  return undefined;
}
