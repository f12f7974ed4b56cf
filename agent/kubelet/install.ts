import { dirname, join } from 'node:path';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode.ts';
import { overlayOnLocal } from '#shared/contract/kubelet-config/effective.ts';
import { formatFinding } from '#shared/contract/finding.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Disk, FileOwner } from '../disk/disk.ts';
import type { Installable, Installer, InstallMethod, InstallPlan } from './installer.ts';
import { createLocalConfigKeeper, type LocalConfig } from './local-config.ts';

export interface InstallerOptions {
  readonly disk: Disk;
  readonly stateDirectory: string;
  /** The kubelet's `--config` file. */
  readonly configFile: string;
  /** The kubelet's `--config-dir`; undefined where it has none. */
  readonly dropInDirectory: string | undefined;
  /** Minor version of this node's kubelet, `1.34`; rejects where it is not known yet. */
  readonly kubeletMinor: () => Promise<string>;
}

/** Last by name among the drop-ins, so that nothing of the node's own stands above it. */
export const DROP_IN_NAME = '99-kubelet-gitops.conf';

/** Kubelets before 1.28 know no `--config-dir` (KEP-3983). */
const FIRST_MINOR_WITH_DROP_INS = 28;

const ROOT_ONLY: FileOwner = { mode: 0o600, uid: 0, gid: 0 };

export function createInstaller(options: InstallerOptions): Installer {
  const { disk, configFile, dropInDirectory, kubeletMinor } = options;
  const keeper = createLocalConfigKeeper(disk, options.stateDirectory, configFile);
  const dropIn = dropInDirectory === undefined ? undefined : join(dropInDirectory, DROP_IN_NAME);

  async function methodFor(config: Installable): Promise<InstallMethod> {
    if (dropIn === undefined || config.apply === 'replace') return 'file';
    return Number((await kubeletMinor()).split('.')[1]) >= FIRST_MINOR_WITH_DROP_INS ? 'drop-in' : 'file';
  }

  /** A file that is ours goes back to the local config; one that is not is left alone. */
  const localFile = (local: LocalConfig): InstallPlan['files'] =>
    local.isOurs ? [{ path: configFile, bytes: local.bytes.toString('utf8') }] : [];
  const noDropIn = (): InstallPlan['files'] => (dropIn === undefined ? [] : [{ path: dropIn, bytes: null }]);

  async function plan(config: Installable | null): Promise<InstallPlan> {
    const local = await keeper.read();
    if (config === null) {
      const files = [...noDropIn(), { path: configFile, bytes: local.bytes.toString('utf8') }];
      return { method: 'file', effective: readable(local, configFile) ?? {}, files };
    }
    const method = await methodFor(config);
    const payload = fieldsOf(config.payload);
    const effective = config.apply === 'replace' ? payload : overlay(local, payload, await kubeletMinor());
    if (method === 'drop-in' && dropIn !== undefined) {
      return { method, effective, files: [{ path: dropIn, bytes: config.payload }, ...localFile(local)] };
    }
    const bytes = config.apply === 'replace' ? config.payload : canonicalize(effective);
    return { method, effective, files: [{ path: configFile, bytes }, ...noDropIn()] };
  }

  function overlay(
    local: LocalConfig,
    payload: Readonly<Record<string, unknown>>,
    minor: string,
  ): Readonly<Record<string, unknown>> {
    const own = readable(local, configFile);
    if (own === undefined) throw unreadableLocal(local, configFile);
    return overlayOnLocal(own, payload, minor);
  }

  async function isInPlace({ path, bytes }: InstallPlan['files'][number], owner: FileOwner): Promise<boolean> {
    const stat = await disk.stat(path);
    if (bytes === null || stat === null) return bytes === null && stat === null;
    const rightOwner =
      stat.mode === owner.mode && stat.uid === (owner.uid ?? stat.uid) && stat.gid === (owner.gid ?? stat.gid);
    return stat.kind === 'file' && rightOwner && (await disk.read(path))?.equals(Buffer.from(bytes, 'utf8')) === true;
  }

  const ownerOf = (path: string, local: LocalConfig): FileOwner => (path === configFile ? local.owner : ROOT_ONLY);

  return {
    plan,
    async isInstalled({ files }) {
      const local = await keeper.read();
      const inPlace = await Promise.all(files.map((file) => isInPlace(file, ownerOf(file.path, local))));
      return inPlace.every(Boolean);
    },
    async install({ files }) {
      for (const file of files) {
        const local = await keeper.read();
        const owner = ownerOf(file.path, local);
        if (await isInPlace(file, owner)) continue;
        if (file.bytes === null) {
          await disk.remove(file.path);
          continue;
        }
        if (file.path === configFile) await keeper.beforeWriting(local, file.bytes);
        else await disk.makeDirectory(dirname(file.path), 0o755);
        await disk.replace(file.path, Buffer.from(file.bytes, 'utf8'), owner);
      }
    },
  };
}

/** The local config's fields; undefined where it cannot be read at all. Whatever the kubelet forgives is forgiven here. */
function readable(local: LocalConfig, path: string): Readonly<Record<string, unknown>> | undefined {
  return decodeKubeletConfig(local.bytes, path).value;
}

function fieldsOf(payload: string): Readonly<Record<string, unknown>> {
  const { value, findings } = decodeKubeletConfig(Buffer.from(payload, 'utf8'));
  if (value !== undefined) return value;
  throw new GitopsError(
    'INSTALL_PAYLOAD_UNREADABLE',
    `the payload is no KubeletConfiguration: ${findings.map(formatFinding).join('; ')}`,
    {
      disposition: { kind: 'stalled', until: 'new-commit' },
    },
  );
}

function unreadableLocal(local: LocalConfig, path: string): GitopsError<'INSTALL_LOCAL_UNREADABLE'> {
  const { findings } = decodeKubeletConfig(local.bytes, path);
  return new GitopsError(
    'INSTALL_LOCAL_UNREADABLE',
    `nothing can be laid over the node's own config, because it cannot be read: ${findings.map(formatFinding).join('; ')}`,
    { disposition: { kind: 'stalled', until: 'operator' } },
  );
}
