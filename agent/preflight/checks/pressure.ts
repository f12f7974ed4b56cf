import { reservedAmount } from '#shared/contract/kubelet-config/reserved-amount.ts';
import { type ConfigView, viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import type { FileSystemSpace } from '../../host/host-files.ts';
import { type Check, refuse, warn } from '../preflight-check.ts';
import type { HostFacts } from '../host-facts.ts';
import { mebibytes } from './capacity.ts';
import { usesFlag } from './kubelet-flags.ts';

/** Less than half of a machine is what people keep free on purpose. */
const MUCH = 0.5;

/** Either makes the Node's condition true as soon as it is crossed; the soft one's grace period only delays evictions. */
const FIELDS = [
  ['evictionHard', 'eviction-hard'],
  ['evictionSoft', 'eviction-soft'],
] as const;

interface Level {
  readonly signal: string;
  readonly capacity: number;
  readonly left: number;
}

/**
 * A threshold that is crossed already: the Node would be under pressure as soon as the kubelet comes up. One that is crossed
 * with the present config as well was crossed for another reason.
 */
export const pressure: Check = ({ view }, facts) =>
  FIELDS.flatMap(([field, flag]) => {
    // The flag takes the place of the whole map.
    if (usesFlag(facts.kubeletArgs ?? [], flag)) return [];
    const { present } = facts;
    const before = present === undefined ? undefined : viewOf(present, view.minor, 'replace');
    return levelsOf(facts).flatMap(({ signal, capacity, left }) => {
      const threshold = reservedAmount(view, field, signal, capacity);
      if (threshold <= left) return [];
      const show = signal.endsWith('.available') && !signal.startsWith('pid') ? mebibytes : String;
      const message = `${signal} is to be at least ${show(threshold)}, and ${show(left)} of ${show(capacity)} are available now: pods would be evicted ${field === 'evictionHard' ? 'at once' : 'after its grace period'}`;
      const isNew = before === undefined ? threshold > capacity * MUCH : !isCrossed(before, signal, capacity, left);
      return [(isNew ? refuse : warn)('pressure-at-once', field, message)];
    });
  });

const isCrossed = (view: ConfigView, signal: string, capacity: number, left: number): boolean =>
  FIELDS.some(([field]) => reservedAmount(view, field, signal, capacity) > left);

/** Those of `containerfs` are not asked for: the kubelet gives it the thresholds of the file system that it is on. */
function levelsOf({ memoryBytes, availableMemoryBytes, mostPids, pids, nodefs, imagefs }: HostFacts): readonly Level[] {
  const pidsLeft = mostPids === undefined || pids === undefined ? undefined : mostPids - pids;
  return [
    ...levelOf('memory.available', memoryBytes, availableMemoryBytes),
    ...levelOf('pid.available', mostPids, pidsLeft),
    ...levelsOn('nodefs', nodefs),
    ...levelsOn('imagefs', imagefs),
  ];
}

const levelsOn = (name: string, room: FileSystemSpace | undefined): readonly Level[] => [
  ...levelOf(`${name}.available`, room?.bytes, room?.availableBytes),
  ...levelOf(`${name}.inodesFree`, room?.inodes, room?.freeInodes),
];

/** A file system without inodes to count has a capacity of 0. */
const levelOf = (signal: string, capacity: number | undefined, left: number | undefined): readonly Level[] =>
  capacity === undefined || capacity === 0 || left === undefined ? [] : [{ signal, capacity, left }];
