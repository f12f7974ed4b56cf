import { join } from 'node:path';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Disk } from '../ports/disk.ts';
import type { Reboot } from '../decide/state.ts';

/** Has the machine reboot. */
export interface Rebooter {
  /**
   * Resolves when the order was given, not when the machine goes down. Given twice in one boot it leads to one reboot.
   *
   * @throws GitopsError if neither systemd nor a reboot daemon takes the order
   */
  order(reboot: Reboot, because: string, signal: AbortSignal): Promise<void>;
  /** Removes the file left for a reboot daemon. An order to systemd cannot be withdrawn. */
  withdraw(): Promise<void>;
}

interface RebooterOptions {
  readonly disk: Pick<Disk, 'replace' | 'remove' | 'makeDirectory'>;
  readonly stateDirectory: string;
  /** Tells systemd; absent where the kubelet is not under systemd. */
  readonly systemd?: ((because: string, signal: AbortSignal) => Promise<void>) | undefined;
}

/** In the agent's state directory. Its content is the boot that is to end: in the next one the file says nothing any more. */
const SENTINEL_NAME = 'reboot-required';

export function createRebooter({ disk, stateDirectory, systemd }: RebooterOptions): Rebooter {
  const sentinel = join(stateDirectory, SENTINEL_NAME);
  return {
    async order({ by, boot }, because, signal) {
      if (by === 'sentinel') {
        await disk.makeDirectory(stateDirectory, 0o700);
        await disk.replace(sentinel, Buffer.from(`${boot}\n`), { mode: 0o644 });
        return;
      }
      if (systemd === undefined) {
        const message = 'nothing here speaks to systemd: the kubelet is restarted by KUBELET_RESTART_COMMAND';
        throw new GitopsError('REBOOT_IMPOSSIBLE', message, { disposition: { kind: 'stalled', until: 'operator' } });
      }
      await systemd(because, signal);
    },
    withdraw: () => disk.remove(sentinel),
  };
}
