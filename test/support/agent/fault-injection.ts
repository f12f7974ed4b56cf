import assert from 'node:assert/strict';
import { brokenInvariants } from './disk-invariants.ts';
import type { FrozenFiles } from './journaled-files.ts';
import type { Point, Strike } from './mortal.ts';
import { afterPowerLoss, describeFiles, withTornFile } from './power-loss.ts';
import { isAtRest, nodeBefore, type Transition } from './transitions.ts';
import { createWholeNode, type FrozenNode, type WholeNode } from './whole-node.ts';

/** A moment of a transition: what its agent was about to do, and everything as it was then. */
export interface Moment {
  readonly point: Point | null;
  readonly world: FrozenNode;
}

/** A transition in which nothing goes wrong, and every moment of it; the last is when it is at rest. */
export interface CleanRun {
  readonly transition: Transition;
  readonly start: FrozenNode;
  readonly moments: readonly Moment[];
  /** Every content that a file had at any start of the kubelet. */
  readonly known: ReadonlySet<string>;
}

export async function runClean(transition: Transition): Promise<CleanRun> {
  const before = await nodeBefore(transition);
  const start = before.freeze();
  const node = createWholeNode({ ...transition.options, from: start });
  const moments: Moment[] = [];
  begin(node, transition);
  node.start((point) => {
    moments.push({ point, world: node.freeze() });
    return 'none';
  });
  await node.pass(1_000);
  await comeToRest(node, [transition.endsOn], transition.name);
  moments.push({ point: null, world: node.freeze() });
  await node.stop();
  const starts = node.kubelet.history.length - 1;
  assert.equal(starts, transition.starts, `${transition.name} costs ${starts} starts`);
  const history = [...before.kubelet.history, ...node.kubelet.history];
  const texts = history.flatMap(({ files }) => Object.values(files));
  return { transition, start, moments, known: new Set([...texts, ...(transition.theirs ?? [])]) };
}

/** How something goes wrong while the agent is not there to see it. */
export interface Blow {
  readonly what: string;
  readonly world: FrozenNode;
  readonly reboot: boolean;
}

/** The agent is killed at this moment, or in the middle of what it is writing; or the machine loses its power. */
export function blowsAt(moments: readonly Moment[], index: number): readonly Blow[] {
  const { point, world } = moments[index] as Moment;
  const after = moments[index + 1]?.world.files;
  const isWrite = point?.call === 'write' && after !== undefined;
  const torn = isWrite ? [withTornFile(after, point.path)] : [];
  const killed = [world.files, ...torn].map((files): Blow => blow('killed', world, files, false));
  const powerless = afterPowerLoss(world.files).map((files) => blow('without power', world, files, true));
  return [...killed, ...powerless];
}

const blow = (what: string, world: FrozenNode, files: FrozenFiles, reboot: boolean): Blow => ({
  what,
  world: { ...world, files },
  reboot,
});

/** Two blows with one description come to the same. */
export function describeBlow({ world: { files, kubelet, boots, now, guard, uptimeMs }, reboot }: Blow): string {
  return JSON.stringify([describeFiles(files), kubelet, boots, now, guard, uptimeMs, reboot]);
}

/** What a run after a blow is held to. */
export interface Aftermath {
  /** How long no agent is there. */
  readonly awayMs: number;
  readonly endsOn: readonly number[];
  readonly moreStarts: number;
}

/** Goes on from where the agent ended, with another one. */
export async function recover(clean: CleanRun, { what, world, reboot }: Blow, after: Aftermath): Promise<void> {
  const { transition, start, known } = clean;
  const node = createWholeNode({ ...transition.options, from: world });
  later(node, transition, world.now - start.now);
  if (reboot) node.reboot();
  await node.pass(after.awayMs);
  node.start();
  await node.pass(1_000);
  await comeToRest(node, after.endsOn, what);
  const mostStarts = transition.starts + after.moreStarts;
  assert.deepEqual(brokenInvariants(node, { endsOn: after.endsOn, mostStarts, known }), []);
  await node.stop();
}

/** The disk is full for one call, or from one on until there is room again. */
export async function runFull(clean: CleanRun, index: number, until: 'once' | 'on'): Promise<void> {
  const { transition, start, known, moments } = clean;
  const node = createWholeNode({ ...transition.options, from: start });
  let calls = -1;
  let isRoom = false;
  begin(node, transition);
  node.start((point): Strike => {
    calls += 1;
    const isStruck = until === 'once' ? calls === index : calls >= index && !isRoom && needsSpace(point);
    if (!isStruck || point.call === 'restart-kubelet' || point.call === 'reload-units') return 'none';
    return point.call === 'write' ? 'torn-full' : 'full';
  });
  await node.pass(moments.at(-1) === undefined ? 0 : 90_000);
  assert.ok(node.kubelet.isHealthy(), 'the kubelet is not healthy on a full disk');
  isRoom = true;
  await comeToRest(node, [transition.endsOn], `full ${until}`);
  const expected = { endsOn: [transition.endsOn], mostStarts: transition.starts + 1, known };
  assert.deepEqual(brokenInvariants(node, expected), []);
  await node.stop();
}

/** Names can be moved and removed on a disk that is full. */
export const needsSpace = ({ call }: Point): boolean => ['create', 'write', 'sync', 'mkdir'].includes(call);

const STEP_MS = 5_000;
const PATIENCE_MS = 600_000;
const STILLNESS_MS = 130_000;

/** Rests, and goes on resting: two of its looks change nothing. */
async function comeToRest(node: WholeNode, endsOn: readonly number[], what: string): Promise<void> {
  const rests = (): boolean => endsOn.some((maxPods) => isAtRest(node, maxPods));
  for (let waited = 0; !rests(); waited += STEP_MS) {
    if (waited > PATIENCE_MS) {
      const stands = { runs: node.kubelet.history.at(-1), state: node.agent().state() };
      throw new Error(`does not come to rest: ${what}\n${JSON.stringify(stands, null, 1)}`);
    }
    await node.pass(STEP_MS);
  }
  await node.pass(STILLNESS_MS);
  const [starts, changes] = [node.kubelet.starts(), node.disk.changes()];
  await node.pass(STILLNESS_MS);
  assert.ok(rests(), 'it does not stay at rest');
  assert.deepEqual([node.kubelet.starts(), node.disk.changes()], [starts, changes], 'at rest, something goes on');
}

function begin(node: WholeNode, transition: Transition): void {
  for (const { afterMs, happens } of transition.events) if (afterMs === 0) happens(node);
  later(node, transition, 0);
}

/** Puts on the clock what is still to happen. */
function later(node: WholeNode, { events }: Transition, passedMs: number): void {
  for (const { afterMs, happens } of events) {
    if (afterMs > passedMs) void node.clock.sleep(afterMs - passedMs).then(() => happens(node));
  }
}
