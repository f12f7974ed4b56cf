import { dirname, join } from 'node:path';
import { formatFinding } from '#shared/contract/finding.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { FIRST_MINOR_THAT_PATCHES, NO_FILE, withDropIns } from '#shared/contract/kubelet-config/drop-ins.ts';
import { overlayOnLocal, withOwnDefaults } from '#shared/contract/kubelet-config/effective.ts';
import { withKeptFields } from '#shared/contract/kubelet-config/kept-fields.ts';
import { minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Disk } from '../ports/disk.ts';
import type { GuardedFile } from '../ports/guard.ts';
import { fieldsOfConfig } from './config-fields.ts';
import { fileDifferences } from './file-differences.ts';
import { DROP_IN_NAME, NO_DROP_INS, readOwnDropIns } from './install-drop-ins.ts';
import { createLocalConfigStore, type LocalConfig, type OwnConfig } from './local-config.ts';
import { renderManaged } from './install-marker.ts';
import { isNoConfigFile } from './layout.ts';
import { type LimitRestorer, noLimits } from './limit-restore.ts';
import { type ConfigNow, createManagerStateFiles } from './manager-state/manager-state-files.ts';
import type { Installable, Installer, InstallPlan, ManagedFile, PlannedBase } from '../ports/installer.ts';

interface InstallerOptions {
  readonly disk: Disk;
  readonly stateDirectory: string;
  readonly nodeName: string;
  /** The kubelet's `--config` file. */
  readonly configFile: string;
  /** The kubelet's `--config-dir`; undefined without one. */
  readonly dropInDirectory: string | undefined;
  /** The kubelet's `--root-dir`, with the managers' state files in it. Default: its usual place. */
  readonly kubeletRootDirectory?: string | undefined;
  /** Restores limits that kubelets set outside of their pods; left out, they are not restored. */
  readonly limits?: LimitRestorer;
  /** Owner of the files that the agent makes; left out, the owner is not checked. */
  readonly agentUid?: number | undefined;
  /** Minor version of this node's kubelet, `1.34`; rejects while it is unknown. */
  readonly kubeletMinor: () => Promise<string>;
}

type Config = Readonly<Record<string, unknown>>;

const USUAL_ROOT = '/var/lib/kubelet';

const STALLED = { disposition: { kind: 'stalled', until: 'operator' } } as const;

export function createInstaller(options: InstallerOptions): Installer {
  const {
    disk,
    stateDirectory,
    nodeName,
    configFile,
    dropInDirectory,
    kubeletMinor,
    kubeletRootDirectory = USUAL_ROOT,
    limits = noLimits,
  } = options;
  const keeper = createLocalConfigStore(disk, stateDirectory, configFile, nodeName);
  const managers = createManagerStateFiles({ disk, stateDirectory, nodeName, rootDirectory: kubeletRootDirectory });
  const agentOnly = { mode: 0o600, ...(options.agentUid === undefined ? {} : { uid: options.agentUid }) };
  const dropIn = dropInDirectory === undefined ? undefined : join(dropInDirectory, DROP_IN_NAME);

  /** Whether an overlay means in a drop-in what it means in the file. */
  const patchesDropIns = async (): Promise<boolean> =>
    dropIn !== undefined && (minorNumber(await kubeletMinor()) ?? 0) >= FIRST_MINOR_THAT_PATCHES;

  /** What the kubelet makes of a config file, and of drop-ins around the place of ours. */
  async function load(file: Config | null, ours: Config | null): Promise<Config> {
    const own = dropInDirectory === undefined ? NO_DROP_INS : await readOwnDropIns(disk, dropInDirectory);
    const layers = [...own.below, ...(ours === null ? [] : [ours]), ...own.above];
    const base = file ?? (dropIn === undefined ? {} : NO_FILE);
    return layers.length === 0 ? base : withDropIns(base, layers, await kubeletMinor());
  }

  /** What the files that are there now make the kubelet run at its next start; undefined where that cannot be said. */
  async function present(): Promise<Config | undefined> {
    const fields = async (path: string): Promise<Config | null | undefined> => {
      const bytes = await disk.read(path);
      return bytes === null ? null : fieldsOfConfig(bytes);
    };
    const file = await fields(configFile);
    const ours = dropIn === undefined ? null : await fields(dropIn);
    return file === undefined || ours === undefined ? undefined : load(file, ours);
  }

  async function planLocal({ own, newer, file: holds }: LocalConfig): Promise<InstallPlan> {
    const local: LocalConfig = { own: holds === 'newer' ? newer : own, file: holds, newer: null };
    const file = local.own === null ? null : (fieldsOf(local.own) ?? {});
    // The way back to the local config must not fail because a version is not known.
    const effective = await load(file, null).catch(() => file ?? {});
    const method = dropIn === undefined ? 'file' : 'drop-in';
    const files = [...withoutDropIn(dropIn), ...localFile(local, configFile)];
    const isDropInThere = dropIn !== undefined && (await disk.stat(dropIn)) !== null;
    const isOverOurs = holds === 'ours' || holds === 'edited' || isDropInThere;
    return { method, effective, files, ...baseOf(local.own, null), ...(isOverOurs ? { isOverOurs } : {}) };
  }

  async function planDropIn(local: LocalConfig, { payload }: Installable, path: string): Promise<InstallPlan> {
    const file = local.own === null ? null : readableOrThrow(local.own, configFile);
    const bytes = Buffer.from(payload, 'utf8');
    const ours: ManagedFile = { path, holds: 'ours', bytes, owner: agentOnly };
    const effective = await load(file, payloadFields(payload));
    return { method: 'drop-in', effective, files: [...localFile(local, configFile), ours] };
  }

  async function planFile(local: LocalConfig, installable: Installable): Promise<InstallPlan> {
    const { payload, apply, keepFields = [], base } = installable;
    if (local.own === null && apply === 'overlay' && dropInDirectory !== undefined)
      throw noBase(configFile, dropInDirectory, await kubeletMinor());
    if (local.own === null) throw noFile(configFile);
    if (local.file === 'link') throw notAFile(configFile);
    const fields = payloadFields(payload);
    const found = base === undefined ? local.own : await keeper.find(local, base);
    const own = found ?? local.own;
    const hasBase = apply === 'overlay' || keepFields.length > 0;
    const over = async (below: OwnConfig): Promise<Config> => {
      if (!hasBase) return fields;
      const under = readableOrThrow(below, configFile);
      return apply === 'overlay'
        ? overlayOnLocal(under, fields, await kubeletMinor())
        : withKeptFields(withOwnDefaults(under, fields, await kubeletMinor()), fields, keepFields);
    };
    const file = await over(own);
    const bytes = renderManaged(file);
    const ours: ManagedFile = { path: configFile, holds: 'ours', bytes, owner: own.owner };
    const plan = { effective: await load(file, null), files: [...withoutDropIn(dropIn), ours] };
    // It was proven over another one, which is lost; that matters where anything of a base is in it.
    if (found === null) {
      // Of what was written since, the record that is left may know nothing.
      const isOurs = local.file === 'ours' || local.file === 'edited';
      const isKept = isOurs && (await disk.read(configFile))?.equals(bytes) !== true;
      const lost = isKept ? 'kept' : 'gone';
      const newer = { sha256: own.sha256, changes: hasBase, lost } as const;
      return { method: 'file', ...plan, ...baseOf(own, newer) };
    }
    const { newer } = local;
    if (newer === null || newer.sha256 === own.sha256) return { method: 'file', ...plan, ...baseOf(own, null) };
    const changes = !renderManaged(await over(newer)).equals(bytes);
    return { method: 'file', ...plan, ...baseOf(own, { sha256: newer.sha256, changes }) };
  }

  /** Neither of the two may keep a node from its way back. */
  const now = async (): Promise<ConfigNow> => ({
    present: await present().catch(() => undefined),
    minor: await kubeletMinor().then(minorNumber, () => undefined),
  });

  async function isInPlace(file: ManagedFile, local: LocalConfig): Promise<boolean> {
    if (file.holds === 'local') return local.file === 'local' || local.file === 'link' || local.file === 'newer';
    const stat = await disk.stat(file.path);
    if (file.holds === 'nothing') return stat === null;
    if (stat?.kind !== 'file') return false;
    const { mode, uid = stat.uid, gid = stat.gid } = file.owner;
    if (stat.mode !== mode || stat.uid !== uid || stat.gid !== gid) return false;
    return (await disk.read(file.path))?.equals(file.bytes) === true;
  }

  async function firstAmiss({ files }: InstallPlan): Promise<string | undefined> {
    const local = await keeper.read();
    for (const file of files) if (!(await isInPlace(file, local))) return file.path;
    return undefined;
  }

  async function differences({ effective }: InstallPlan): Promise<readonly string[]> {
    const there = await present().catch(() => undefined);
    if (there === undefined) return [];
    return fileDifferences(effective, there, await kubeletMinor().catch(() => undefined));
  }

  async function put(file: ManagedFile): Promise<void> {
    const local = await keeper.read();
    if (await isInPlace(file, local)) return;
    if (file.holds === 'nothing') return disk.remove(file.path);
    if (file.path === configFile) await keeper.beforeWriting(local, file.bytes);
    else await disk.makeDirectory(dirname(file.path), 0o755);
    await disk.replace(file.path, file.bytes, file.owner);
  }

  return {
    async plan(config) {
      const local = await keeper.read();
      if (config === null) return planLocal(local);
      const isDropIn = config.apply === 'overlay' && (await patchesDropIns());
      return isDropIn && dropIn !== undefined ? planDropIn(local, config, dropIn) : planFile(local, config);
    },
    isInstalled: async (plan) => (await firstAmiss(plan)) === undefined,
    firstAmiss,
    differences,
    async install({ effective, files }) {
      const before = await now();
      await limits.record({ ...before, wanted: effective });
      // With the new files and an old state, the kubelet does not start.
      await managers.removeUnfit({ ...before, wanted: effective });
      for (const file of files) await put(file);
      await managers.restore({ ...(await now()), wanted: effective });
      // The kubelet that comes up with them sets its own limits, and no others.
      await limits.restore({ ...before, wanted: effective });
    },
    async fallbackFiles(trial, to) {
      const states = await managers.fallbackFiles(await now(), trial.effective, to.effective);
      for (const file of to.files) {
        if (file.holds === 'ours' && file.path === configFile) await keeper.remember(await keeper.read(), file.bytes);
      }
      return [...states, ...to.files.map(asGuarded)];
    },
    async fallbackLimits(trial, to) {
      const before = await now();
      await limits.record({ ...before, wanted: trial.effective });
      return limits.fallbackLimits({ ...before, wanted: to.effective });
    },
    writeBack: () => keeper.writeBack(),
    forgetState: () => managers.forget(),
    async takeAsLocal() {
      const local = await keeper.read();
      if (local.file === 'newer' && local.newer !== null) await keeper.adopt(local, local.newer);
    },
    async settle({ config, needed, refused }) {
      const local = await keeper.read();
      const { file, newer } = local;
      if (config === null && file === 'local' && newer !== null && newer.sha256 !== refused) {
        await disk.replace(configFile, newer.bytes, newer.owner);
        await keeper.adopt(local, newer);
      }
      const base = config?.base === undefined ? null : await keeper.find(local, config.base);
      if (base !== null) await keeper.adopt(local, base);
      await keeper.keepOnly(await keeper.read(), needed);
    },
  };
}

const baseOf = (own: OwnConfig | null, newer: PlannedBase['newer']): Pick<InstallPlan, 'base'> =>
  own === null ? {} : { base: { sha256: own.sha256, newer } };

const asGuarded = (file: ManagedFile): GuardedFile =>
  file.holds === 'nothing'
    ? { path: file.path, bytes: null }
    : { path: file.path, bytes: file.bytes, owner: file.owner };

const withoutDropIn = (path: string | undefined): readonly ManagedFile[] =>
  path === undefined ? [] : [{ path, holds: 'nothing' }];

const localFile = ({ own, file }: LocalConfig, path: string): readonly ManagedFile[] =>
  own === null || file === 'link' ? [] : [{ path, holds: 'local', bytes: own.bytes, owner: own.owner }];

/** Undefined if it is unreadable. What the kubelet tolerates is tolerated here. */
function fieldsOf(own: OwnConfig | null): Config | undefined {
  return own === null ? undefined : fieldsOfConfig(own.bytes);
}

function readableOrThrow(own: OwnConfig, path: string): Config {
  const fields = fieldsOf(own);
  if (fields !== undefined) return fields;
  const { findings } = decodeKubeletConfig(own.bytes, path);
  throw new GitopsError(
    'INSTALL_LOCAL_UNREADABLE',
    `nothing can be laid over the node's own config, because it cannot be read: ${findings.map(formatFinding).join('; ')}`,
    STALLED,
  );
}

function payloadFields(payload: string): Config {
  const bytes = Buffer.from(payload, 'utf8');
  const fields = fieldsOfConfig(bytes);
  if (fields !== undefined) return fields;
  const { findings } = decodeKubeletConfig(bytes);
  throw new GitopsError(
    'INSTALL_PAYLOAD_UNREADABLE',
    `the payload is not a KubeletConfiguration: ${findings.map(formatFinding).join('; ')}`,
    { disposition: { kind: 'stalled', until: 'new-commit' } },
  );
}

function noFile(path: string): GitopsError<'INSTALL_NO_LOCAL_CONFIG'> {
  const message = isNoConfigFile(path)
    ? 'this kubelet has no --config file, so that no config can take its place: use apply: overlay, or start it with --config'
    : `there is no ${path}: set KUBELET_CONFIG_FILE to what the kubelet's --config says, and see that its directory is mounted`;
  return new GitopsError('INSTALL_NO_LOCAL_CONFIG', message, STALLED);
}

/** Of a kubelet that merges drop-ins otherwise than overlays are meant. */
function noBase(path: string, directory: string, minor: string): GitopsError<'INSTALL_NO_LOCAL_CONFIG'> {
  return new GitopsError(
    'INSTALL_NO_LOCAL_CONFIG',
    `there is no ${isNoConfigFile(path) ? '--config file' : path} to lay the overlay over, and as a drop-in in ${directory} it would mean something else to a kubelet ${minor} (before 1.32 null, zero, lists of maps and what is not named differ): start the kubelet with a --config file, and set KUBELET_CONFIG_FILE to it`,
    STALLED,
  );
}

function notAFile(path: string): GitopsError<'INSTALL_NOT_A_FILE'> {
  return new GitopsError(
    'INSTALL_NOT_A_FILE',
    `${path} is a link, which a file would take the place of: set KUBELET_CONFIG_FILE to where the file really is`,
    STALLED,
  );
}
