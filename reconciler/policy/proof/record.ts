import { type ConfigIdentity, sameIdentity, writtenKeep } from '#shared/contract/api/config-identity.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type {
  ClassProof,
  KubeletPoolStatus,
  ProofRecord,
  ProofState,
  RolloutStatus,
  SettledConfig,
} from '#shared/contract/api/kubelet-pool.ts';

/** A config of ours; null for none. */
type Payload = ConfigIdentity | null;

/** What a pool's record says of one class of its machines. */
export interface ClassRecord {
  readonly name: string;
  readonly state: ProofState;
  readonly since: string;
  /** The config that its nodes are to run; null where the class has none. */
  readonly current: Payload;
  /** What it proved last, and others may be given; null for nothing. */
  readonly proven: Payload;
  /** What it proved last, where a revert alone may go back to it; null for nothing. */
  readonly former: Payload;
  /** The commit that `proven` or `former` was rendered from; undefined where that is unknown. */
  readonly commit: string | undefined;
  readonly nodes: number;
  readonly proved: number;
  readonly missing: readonly string[];
}

/** By commit, the SHA-256s of the payloads that it renders for a pool; null where nobody can have it, of a branch that was rewritten or is not served that far back. */
export type Rendered = ReadonlyMap<string, ReadonlySet<string> | null>;

/** A node whose class is asked about. */
export interface ProofOf {
  readonly node: { readonly name: string };
  readonly kubeletNode: KubeletNode | undefined;
}

/**
 * What the classes of a pool have proven. Everything that waits for proof reads this. Others may write the record that it is made of, so
 * that a record which this leader did not write itself says of a class only what a node of the class shows: the rest is unproven.
 */
export interface PoolProof {
  /** By name of the class. */
  readonly classes: ReadonlyMap<string, ClassRecord>;
  /** What other nodes of the class of this one may be given at once; null for nothing. */
  readonly provenFor: (node: ProofOf) => Payload;
  /** What a revert takes this node back to: the same, or what the class proved last, where its commit renders that still. */
  readonly revertTo: (node: ProofOf) => Payload | 'unread';
  /** Whether the class of a node has proven this config. */
  readonly isProven: (node: string, target: Payload) => boolean;
  /** The way of the pool's present payload so far; undefined for a new one. */
  readonly rollout: RolloutStatus | undefined;
  /** The last way of a payload, of this or of one before; undefined for none. */
  readonly last: RolloutStatus | undefined;
  /** What the pool settled on last; undefined for nothing. */
  readonly settled: SettledConfig | undefined;
  /** What commits in the record render. */
  readonly rendered?: Rendered | undefined;
}

/** Nothing is proven. */
export const NO_PROOF: PoolProof = {
  classes: new Map(),
  provenFor: () => null,
  revertTo: () => null,
  isProven: () => false,
  rollout: undefined,
  last: undefined,
  settled: undefined,
};

/** Most classes of a record; etcd takes objects of 1.5 MiB, and a status is more than this record. */
export const MOST_CLASSES = 1000;
/** Most bytes of a class in it, and of all of it, as JSON. */
const MOST_CLASS_BYTES = 256;
const MOST_BYTES = 256 * 1024;

/** Of a pool that computes nothing. */
export const ONLY_CLASS = '';

/** Of a class that has shown nothing. */
export const NOTHING_SHOWN: ClassRecord = {
  name: ONLY_CLASS,
  state: 'unproven',
  since: '',
  current: null,
  proven: null,
  former: null,
  commit: undefined,
  nodes: 0,
  proved: 0,
  missing: [],
};

/** By class, what a status says; others may have written it. */
export function readProof({ proof }: KubeletPoolStatus = {}): ReadonlyMap<string, ClassRecord> {
  if (proof === undefined) return new Map();
  const payloads = proof.payloads.map((text) => targetOfText(text, proof.keepFields));
  const at = (index = -1): Payload => payloads[index] ?? null;
  const read = ({ missing = [], ...entry }: ClassProof): ClassRecord => {
    const [current, proven, former] = [at(entry.current), at(entry.proven), at(entry.former)];
    const [since, commit] = [proof.times[entry.since] ?? '', proof.commits[entry.commit ?? -1]];
    return { ...entry, missing, since, current, proven, former, commit };
  };
  return new Map(proof.classes.map((entry) => [entry.name, read(entry)]));
}

/**
 * The record of these classes, in this order: where there is no room for all, the last ones are left out. A record that would be too large
 * has no names of nodes.
 */
export function writeProof(classes: readonly ClassRecord[]): ProofRecord {
  let [most, found] = [MOST_CLASSES, written(classes.slice(0, MOST_CLASSES), classes.length, MOST_NAMES)];
  while (bytesOf(found) > MOST_BYTES) {
    found = written(classes.slice(0, most), classes.length, 0);
    most = Math.floor((most * MOST_BYTES) / bytesOf(found)) - 1;
  }
  return found;
}

function written(classes: readonly ClassRecord[], all: number, mostNames: number): ProofRecord {
  const [payloads, keeps, commits, times] = [indexed(), indexed(), indexed(), indexed()];
  const textOf = ({ sha256, apply, keepFields = [] }: ConfigIdentity): string => {
    if (apply === 'overlay') return sha256;
    return `${REPLACING}${keepFields.length === 0 ? '' : `${keeps.at(keepFields.join(','))}:`}${sha256}`;
  };
  const entries = classes.flatMap(({ name, state, since, nodes, proved, missing, ...own }): ClassProof[] => {
    const positions = {
      ...(own.current === null ? {} : { current: payloads.at(textOf(own.current)) }),
      ...(own.proven === null ? {} : { proven: payloads.at(textOf(own.proven)) }),
      ...(own.former === null ? {} : { former: payloads.at(textOf(own.former)) }),
      ...(own.commit === undefined || (own.proven ?? own.former) === null ? {} : { commit: commits.at(own.commit) }),
    };
    const entry = { name, state, since: times.at(since), ...positions, nodes, proved };
    const some = missing.slice(0, mostNames);
    const tries: ClassProof[] = some.length === 0 ? [entry] : [{ ...entry, missing: some }, entry];
    return tries.filter((each) => bytesOf(each) <= MOST_CLASS_BYTES).slice(0, 1);
  });
  const unrecorded = all - entries.length;
  const kept = keeps.all().length === 0 ? {} : { keepFields: keeps.all() };
  const found = { payloads: payloads.all(), ...kept, commits: commits.all(), times: times.all(), classes: entries };
  return unrecorded === 0 ? found : { ...found, unrecorded };
}

const MOST_NAMES = 3;

function indexed() {
  const positions = new Map<string, number>();
  return {
    at(text: string): number {
      const known = positions.get(text) ?? positions.size;
      positions.set(text, known);
      return known;
    },
    all: (): readonly string[] => [...positions.keys()],
  };
}

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

const REPLACING = 'replace:';

function targetOfText(text: string, keeps: readonly string[] = []): Payload {
  if (!text.startsWith(REPLACING)) return { sha256: text, apply: 'overlay' };
  const [sha256 = '', at] = text.slice(REPLACING.length).split(':').toReversed();
  return { sha256, apply: 'replace', ...writtenKeep({ keepFields: keeps[Number(at ?? -1)]?.split(',') }) };
}

/** Whether two records say the same but for their counts and names of nodes. */
export function isSameProof(proof: ProofRecord, classes: readonly ClassRecord[]): boolean {
  const known = readProof({ proof });
  const had = classes.filter((each) => isSameState(known.get(each.name), each));
  return had.length === known.size && known.size + (proof.unrecorded ?? 0) === classes.length;
}

export const isSameState = (a: ClassRecord | undefined, b: ClassRecord): boolean =>
  a !== undefined &&
  a.state === b.state &&
  a.commit === b.commit &&
  [[a.current, b.current] as const, [a.proven, b.proven] as const, [a.former, b.former] as const].every(
    ([one, other]) => (one === null || other === null ? one === other : sameIdentity(one, other)),
  );
