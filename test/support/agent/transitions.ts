import { CONFIG_FILE, DROP_INS } from './fake-kubelet.ts';
import { createWholeNode, NEW_LOCAL_FILE, payloadOf, type WholeNode, type WholeNodeOptions } from './whole-node.ts';

/** Something that happens to a node at rest, and what it has to come to, whatever goes wrong on the way. */
export interface Transition {
  readonly name: string;
  readonly options: WholeNodeOptions;
  /** What the node runs before; null for its own local config. */
  readonly before: Fields | null;
  readonly events: readonly { readonly afterMs: number; readonly happens: (node: WholeNode) => void }[];
  /** maxPods at the end. */
  readonly endsOn: number;
  /** Starts of the kubelet that the whole may cost, when nothing goes wrong. */
  readonly starts: number;
  /** Whole contents that somebody else puts into files. */
  readonly theirs?: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const SHORT = { duration: '10s', startTimeout: '15s', maxRestarts: 1 };
const LOCAL = 42;
const GOOD = 150;
const FATES = { 250: 'dies', 251: 'hangs' } as const;
const THEIRS = payloadOf({ maxPods: 77 });
const DROP_IN = `${DROP_INS}/99-kubelet-gitops.conf`;

/** The kubelet dies of ours over the new file, and of neither alone. */
const diesOfOurs: WholeNodeOptions['fateOf'] = ({ maxPods, podPidsLimit }) =>
  podPidsLimit === 2048 && maxPods !== LOCAL ? 'dies' : undefined;

const assign =
  (fields: Fields, apply: 'overlay' | 'replace' = 'overlay') =>
  (node: WholeNode): void =>
    void node.assign(fields, { trial: SHORT, apply });
const at = (afterMs: number, happens: (node: WholeNode) => void) => ({ afterMs, happens });
const pods = (maxPods: number): Fields => ({ maxPods });

const base = { options: { fates: FATES, guard: true }, before: pods(100) };

export const TRANSITIONS: readonly Transition[] = [
  { ...base, name: 'a first assignment', before: null, events: [at(0, assign(pods(GOOD)))], endsOn: GOOD, starts: 1 },
  {
    ...base,
    name: 'a good change, its promotion and the garbage',
    events: [at(0, assign(pods(GOOD)))],
    endsOn: GOOD,
    starts: 1,
  },
  { ...base, name: 'a change that the kubelet dies of', events: [at(0, assign(pods(250)))], endsOn: 100, starts: 3 },
  { ...base, name: 'a change that the kubelet hangs with', events: [at(0, assign(pods(251)))], endsOn: 100, starts: 2 },
  {
    ...base,
    name: 'a change that another takes the place of in mid-trial',
    events: [at(0, assign(pods(251))), at(8_123, assign(pods(GOOD)))],
    endsOn: GOOD,
    starts: 2,
  },
  {
    ...base,
    name: 'a change that is taken back in mid-trial',
    events: [at(0, assign(pods(GOOD))), at(8_123, assign(pods(100)))],
    endsOn: 100,
    starts: 2,
  },
  { ...base, name: 'an unassignment', events: [at(0, (node) => node.unassign())], endsOn: LOCAL, starts: 1 },
  {
    ...base,
    name: 'an unassignment in mid-trial',
    events: [at(0, assign(pods(251))), at(8_123, (node) => node.unassign())],
    endsOn: LOCAL,
    starts: 2,
  },
  {
    ...base,
    name: 'a good change in which a person stops the kubelet, and starts it again',
    events: [
      at(0, assign(pods(GOOD))),
      at(8_123, ({ kubelet }) => kubelet.stopByHand()),
      at(45_000, ({ kubelet }) => kubelet.restartByHand()),
    ],
    endsOn: GOOD,
    starts: 2,
  },
  {
    ...base,
    name: 'a drop-in that somebody else changed',
    events: [at(0, (node) => node.disk.plant(DROP_IN, THEIRS))],
    theirs: [THEIRS],
    endsOn: 100,
    starts: 0,
  },
  {
    ...base,
    name: 'a new config of the node’s own, in its turn',
    options: { guard: true, dropIns: false },
    events: [at(0, (node) => node.disk.plant(CONFIG_FILE, NEW_LOCAL_FILE))],
    theirs: [NEW_LOCAL_FILE],
    endsOn: 100,
    starts: 1,
  },
  {
    ...base,
    name: 'a new config of the node’s own that the kubelet dies of, in its turn',
    options: { guard: true, dropIns: false, fateOf: diesOfOurs },
    events: [at(0, (node) => node.disk.plant(CONFIG_FILE, NEW_LOCAL_FILE))],
    theirs: [NEW_LOCAL_FILE],
    endsOn: 100,
    starts: 3,
  },
  {
    ...base,
    name: 'from the static CPU manager to none',
    before: { maxPods: 100, cpuManagerPolicy: 'static' },
    events: [at(0, assign(pods(GOOD)))],
    endsOn: GOOD,
    starts: 1,
  },
  {
    ...base,
    name: 'from no CPU manager to a static one that the kubelet dies of',
    events: [at(0, assign({ maxPods: 250, cpuManagerPolicy: 'static' }))],
    endsOn: 100,
    starts: 3,
  },
  {
    ...base,
    name: 'a change in place of the whole config file that the kubelet dies of',
    events: [at(0, assign(pods(250), 'replace'))],
    endsOn: 100,
    starts: 3,
  },
  {
    ...base,
    name: 'a good change on a kubelet without drop-ins',
    options: { fates: FATES, dropIns: false, guard: true },
    events: [at(0, assign(pods(GOOD)))],
    endsOn: GOOD,
    starts: 1,
  },
  {
    ...base,
    name: 'a change on a kubelet without drop-ins or guard, that it dies of',
    options: { fates: FATES, dropIns: false },
    events: [at(0, assign(pods(250)))],
    endsOn: 100,
    starts: 3,
  },
];

const podsBefore = ({ before }: Transition): number => (before === null ? LOCAL : Number(before['maxPods']));

/** The node as the transition finds it: at rest, its agent stopped. */
export async function nodeBefore(transition: Transition): Promise<WholeNode> {
  const { before, options } = transition;
  const node = createWholeNode(options);
  if (before !== null) assign(before)(node);
  await node.until('it is at rest before', () => isAtRest(node, podsBefore(transition)));
  await node.stop();
  return node;
}

export function isAtRest(node: WholeNode, maxPods: number): boolean {
  const { doing, lastKnownGood, assigned } = node.agent().state();
  // Not before it has heard of what is wanted last.
  if (assigned?.source.sha256 !== node.wanted()) return false;
  if (node.status().awaitsTurn) return false;
  const runs = node.maxPods() === maxPods && node.kubelet.isHealthy();
  return doing.phase === 'idle' && runs && (lastKnownGood === null) === (maxPods === LOCAL);
}
