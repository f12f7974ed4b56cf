import type { BusLink } from '../host/dbus/link.ts';
import type { HostFiles } from '../host/host-files.ts';
import { kubeletArgsIn, commandOf } from './kubelet-process.ts';
import { starterIn } from './kubelet-start.ts';
import { numberProperty } from './systemd-status.ts';
import { MANAGER, readUnit } from './systemd-unit.ts';

/** Of k3s, those of `INSTALL_K3S_NAME` as well. */
const PATTERNS = ['kubelet*.service', 'k3s*.service', 'rke2*.service', 'k0s*.service', 'snap.*kubel*.service'];

export interface FoundUnit {
  readonly unit: string;
  /** Its main process is the kubelet, or a program that runs it. Otherwise systemd knows it, and no more. */
  readonly isRunning: boolean;
}

/** The unit of this machine's kubelet; undefined where there is none, or systemd cannot be asked. */
export async function findKubeletUnit(
  link: BusLink,
  files: HostFiles,
  signal: AbortSignal,
): Promise<FoundUnit | undefined> {
  try {
    const connection = await link.connection(signal);
    // systemd 230 and newer.
    const list = { ...MANAGER, member: 'ListUnitsByPatterns', signature: 'asas', body: [[], PATTERNS] };
    const [rows] = await connection.call(list, signal);
    const units = (Array.isArray(rows) ? rows : []).flatMap((row) =>
      Array.isArray(row) && typeof row[0] === 'string' && row[2] === 'loaded' && !row[0].startsWith(OURS)
        ? [row[0]]
        : [],
    );
    const inOrder = [...units.filter((unit) => unit === USUAL_UNIT), ...units.filter((unit) => unit !== USUAL_UNIT)];
    for (const unit of inOrder) {
      const pid = numberProperty(await readUnit(connection, unit, signal), 'MainPID') ?? 0;
      const command = pid > 0 ? await commandOf(files, pid) : [];
      if (runsKubelet(command)) return { unit, isRunning: true };
    }
    return inOrder[0] === undefined ? undefined : { unit: inOrder[0], isRunning: false };
  } catch {
    return undefined;
  }
}

/** The guard's own. */
const OURS = 'kubelet-gitops';
export const USUAL_UNIT = 'kubelet.service';

const runsKubelet = (command: readonly string[]): boolean =>
  kubeletArgsIn(command) !== undefined ||
  (starterIn('', command) !== undefined && /\b(?:agent|server|worker|controller)\b/.test(command.join(' '))) ||
  command.some((word) => word.endsWith('/kubelite'));
