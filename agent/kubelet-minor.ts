import { join } from 'node:path';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Disk } from './disk/disk.ts';
import type { OwnNode } from './own-node.ts';

export interface KubeletMinorOptions {
  readonly ownNode: OwnNode;
  readonly disk: Disk;
  readonly stateDirectory: string;
  readonly clock: Clock;
}

/** How old a reading of the Node may be: kubelets are upgraded in minutes, not in seconds. */
const FRESH_MS: Millis = 5 * 60_000;
const TIMEOUT_MS: Millis = 10_000;

/**
 * The minor version of this node's kubelet, `1.34`: as its Node says it now, and while the API server is away as it said it
 * last, also before a restart of the agent. A fallback must not wait for anybody.
 *
 * The function rejects with `KUBELET_VERSION_UNKNOWN` where the Node was never read.
 */
export function createKubeletMinor({
  ownNode,
  disk,
  stateDirectory,
  clock,
}: KubeletMinorOptions): () => Promise<string> {
  const file = join(stateDirectory, 'local', 'kubelet-version');
  let known: { readonly minor: string; readonly at: Millis } | undefined;

  return async () => {
    if (known !== undefined && clock.monotonic() - known.at < FRESH_MS) return known.minor;
    const { kubeletVersion } = await ownNode.look(FRESH_MS, AbortSignal.timeout(TIMEOUT_MS));
    const seen = minorOf(kubeletVersion);
    if (seen !== undefined) {
      if (seen !== known?.minor) await remember(disk, stateDirectory, file, seen);
      known = { minor: seen, at: clock.monotonic() };
      return seen;
    }
    const remembered = known?.minor ?? minorOf((await disk.read(file))?.toString('utf8'));
    if (remembered !== undefined) return remembered;
    throw new GitopsError(
      'KUBELET_VERSION_UNKNOWN',
      'the version of this kubelet is not known yet: its Node could not be read, and was never read before',
    );
  };
}

const minorOf = (version: string | undefined): string | undefined => /^v?(1\.\d+)/.exec(version ?? '')?.[1];

async function remember(disk: Disk, stateDirectory: string, file: string, minor: string): Promise<void> {
  if (minorOf((await disk.read(file))?.toString('utf8')) === minor) return;
  await disk.makeDirectory(join(stateDirectory, 'local'), 0o700);
  await disk.replace(file, Buffer.from(`${minor}\n`), { mode: 0o600 });
}
