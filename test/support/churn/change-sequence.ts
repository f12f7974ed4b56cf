import { type ChurningNode, DEADLY } from './churning-node.ts';

const isIdleOn = (node: ChurningNode, name: string): boolean => {
  const { phase, active, lastKnownGood } = node.status();
  return phase === 'Idle' && active?.name === name && lastKnownGood?.name === name;
};

/** Another content with each number; the API server's rate is nothing that a kubelet here does anything with. */
const fields = (number: number): Readonly<Record<string, unknown>> => ({ maxPods: 100, kubeAPIQPS: number + 1 });

/** One change of the assignment, lived through to its end. @throws where that end is another than it has to be */
type Change = (node: ChurningNode, number: number) => Promise<void>;

const good: Change = async (node, number) => {
  const name = node.assign(fields(number));
  await node.until('promoted', () => isIdleOn(node, name));
};

const takenBack: Change = async (node, number) => {
  const before = node.status().lastKnownGood?.name;
  const name = node.assign({ ...fields(number), maxPods: DEADLY });
  await node.until('taken back', () => node.status().phase === 'Idle' && node.status().error?.config === name);
  same(node.status().active?.name, before, 'what is active after a fallback');
};

const refused: Change = async (node, number) => {
  const starts = node.kubelet.starts();
  const name = node.assign({ ...fields(number), maxPods: 'many' });
  await node.until('refused', () => node.status().error?.config === name);
  same(node.kubelet.starts(), starts, 'starts of the kubelet after a refusal');
};

const superseded: Change = async (node, number) => {
  node.assign({ ...fields(number), maxPods: 101 });
  await node.pass(4);
  await good(node, number);
};

const madeAnew: Change = async (node) => {
  const starts = node.kubelet.starts();
  const name = node.assignAnew();
  await node.pass(10);
  await node.until('known under its new name', () => isIdleOn(node, name));
  same(node.kubelet.starts(), starts, 'starts of the kubelet for the same content');
};

const unassigned: Change = async (node) => {
  node.unassign();
  await node.until('local', () => isIdleOn(node, 'local'));
  same(node.kubelet.running()['maxPods'], 42, 'maxPods of the local config');
};

/** In turn: what a node sees in its life, the good more often than the bad. */
const CHANGES: readonly Change[] = [good, good, takenBack, good, madeAnew, refused, good, superseded, unassigned, good];

export const change: Change = (node, number) => (CHANGES[number % CHANGES.length] ?? good)(node, number);

function same(seen: unknown, wanted: unknown, what: string): void {
  if (seen !== wanted) throw new Error(`${what}: ${String(seen)} instead of ${String(wanted)}`);
}
