import { dirname } from 'node:path';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { type Kube, NODES } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { sanitizeText } from '#shared/runtime/sanitize.ts';
import { readFile } from '../host/state-files.ts';
import { withDeadline } from '../host/deadline.ts';
import type { Disk } from '../ports/disk.ts';
import type { NodeFacts, OwnNode } from '../ports/own-node.ts';

interface OwnNodeOptions {
  readonly kube: Kube;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly disk: Disk;
  /** File for the version; a missing directory is created. */
  readonly versionFile: string;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

interface Node extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly nodeInfo?: { readonly kubeletVersion?: string };
    readonly capacity?: { readonly memory?: string };
    readonly allocatable?: { readonly memory?: string };
  };
}

/** Short: a kubelet on trial is not to be left alone for an API server that hangs. */
const TIMEOUT_MS = 5_000;
const MAX_VERSION_BYTES = 100;

export function createOwnNode({ kube, nodeName, clock, disk, versionFile }: OwnNodeOptions): OwnNode {
  let version: string | undefined;
  let ready: NodeFacts['ready'] = 'unknown';
  let notReady: string | undefined;
  let pressures: NodeFacts['pressures'] = null;
  let reserved: NodeFacts['reserved'] = null;
  let readAt: Millis | undefined;
  let problem: string | undefined;
  let isAway = false;

  const known = async (): Promise<string | undefined> => {
    version ??= await readVersion(disk, versionFile);
    return version;
  };
  const learn = async (seen: string | undefined): Promise<void> => {
    if (seen === undefined || minorNumber(seen) === undefined) return;
    const isNew = seen !== (await known());
    version = seen;
    try {
      if (!isNew && (await disk.stat(versionFile)) !== null) return;
      await disk.makeDirectory(dirname(versionFile), 0o700);
      await disk.replace(versionFile, Buffer.from(`${seen}\n`, 'utf8'), { mode: 0o600 });
    } catch {
      // It is known now, and is read again after the next start.
    }
  };

  return {
    kubeletVersion: known,
    async look(maxAgeMs, parent) {
      if (readAt === undefined || clock.monotonic() - readAt >= maxAgeMs) {
        try {
          const node = await withDeadline(clock, TIMEOUT_MS, parent, (signal) =>
            kube.get<Node>({ resource: NODES }, nodeName, signal),
          );
          readAt = clock.monotonic();
          ready = readyIn(node);
          notReady = ready === 'no' ? whyNotReady(node) : undefined;
          pressures = node && pressuresIn(node);
          reserved = node && reservedIn(node);
          isAway = false;
          problem = node === null ? `there is no Node ${nodeName}: is NODE_NAME right?` : undefined;
          await learn(node?.status?.nodeInfo?.kubeletVersion);
        } catch (error) {
          // The assignment's watch says that the API server is away; here that only means: not known.
          readAt = undefined;
          [ready, pressures, notReady, reserved] = ['unknown', null, undefined, null];
          problem = reasonOf(error);
          isAway = !isAnswer(error);
        }
      }
      return {
        kubeletVersion: await known(),
        ready,
        pressures,
        reserved,
        ...(notReady === undefined ? {} : { notReady }),
        ...(problem === undefined ? {} : { problem }),
        ...(isAway ? { isAway } : {}),
      };
    },
  };
}

/** A refusal is one; what stands before an API server that is away answers 5xx. */
const isAnswer = (error: unknown): boolean => isKubeError(error) && error.status >= 400 && error.status < 500;

const conditionIn = (node: Node | null): Condition | undefined =>
  node?.status?.conditions?.find(({ type }) => type === 'Ready');

/** A kubelet's message may be as long as a page. */
const LONGEST_REASON = 300;

function whyNotReady(node: Node | null): string | undefined {
  const { reason, message } = conditionIn(node) ?? {};
  const why = [reason, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
  return why === '' ? undefined : sanitizeText(why.replaceAll(/\s+/g, ' ')).slice(0, LONGEST_REASON);
}

/** `Unknown` is what the control plane writes when the kubelet's lease is not renewed. */
function readyIn(node: Node | null): NodeFacts['ready'] {
  const ready = conditionIn(node);
  if (ready === undefined) return 'unknown';
  return ready.status === 'True' ? 'yes' : 'no';
}

/** Whatever else has a condition that is called a pressure: these are the kubelet's. */
const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

const pressuresIn = ({ status }: Node): readonly string[] =>
  PRESSURES.filter((name) => status?.conditions?.some(({ type, status: is }) => type === name && is === 'True'));

function reservedIn({ status }: Node): number | null {
  const [all, free] = [status?.capacity, status?.allocatable].map((of) => parseQuantity(String(of?.memory)));
  return all === undefined || free === undefined || all <= 0 ? null : Math.max(0, 1 - free / all);
}

async function readVersion(disk: Disk, path: string): Promise<string | undefined> {
  try {
    const text = (await readFile(disk, path, MAX_VERSION_BYTES))?.toString('utf8').trim() ?? '';
    return minorNumber(text) === undefined ? undefined : text;
  } catch {
    return undefined;
  }
}
