import assert from 'node:assert/strict';
import { guardPaths } from '#agent/guard/guard-paths.ts';
import { decodePlan } from '#agent/guard/guard-plan.ts';
import { brokenInvariants, type Expectation } from './disk-invariants.ts';
import { UNIT_DIRECTORY } from './fake-guard.ts';
import type { FrozenFiles } from './journaled-files.ts';
import type { Point, InjectedFault } from './crash-injection.ts';
import { afterPowerLoss, describeFiles, withoutUnsynced, withTornFile } from './power-loss.ts';
import { isAtRest, nodeBefore, type Transition } from './transitions.ts';
import { createWholeNode, type FrozenNode, STATE, type WholeNode } from './whole-node.ts';

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

/**
 * The agent dies as soon as it has ordered the restart, and the guard takes the trial back: every moment of its script.
 *
 * @returns null where nothing is restarted under a guard
 */
export async function runGuarded({ transition, start, known }: CleanRun): Promise<CleanRun | null> {
  const moments: Moment[] = [];
  let hasOrdered = false;
  const node: WholeNode = createWholeNode({
    ...transition.options,
    from: start,
    strikeGuard(point) {
      moments.push({ point, world: node.freeze() });
      return 'none';
    },
  });
  begin(node, transition);
  node.start((point) => {
    const dies = hasOrdered;
    hasOrdered ||= point.call === 'restart-kubelet';
    return dies ? 'death' : 'none';
  });
  await node.pass(LONG_MS);
  if (moments.length === 0) return null;
  moments.push({ point: null, world: node.freeze() });
  assert.ok(node.kubelet.isHealthy(), 'the guard did not take it back');
  return { transition, start, moments, known };
}

/** How something goes wrong while the agent is not there to see it. */
export interface InjectedFailure {
  readonly what: string;
  readonly world: FrozenNode;
  readonly reboot: boolean;
}

/** The agent is killed at this moment, or in the middle of what it is writing. */
export function deathsAt(moments: readonly Moment[], index: number): readonly InjectedFailure[] {
  const { point, world } = moments[index] as Moment;
  const after = moments[index + 1]?.world.files;
  const isWrite = point !== null && ['write', 'write-over'].includes(point.call) && after !== undefined;
  const torn = isWrite ? [withTornFile(after, point.path)] : [];
  return [world.files, ...torn].map((files) => blow('killed', world, files, false));
}

/** The machine loses its power at this moment: everything that its disk may hold after that. */
export function outagesAt(moments: readonly Moment[], index: number): readonly InjectedFailure[] {
  const { world } = moments[index] as Moment;
  return afterPowerLoss(world.files).map((files) => blow('without power', world, files, true));
}

/** The same, and nothing that was not synced has arrived. */
export function cutsAt(moments: readonly Moment[], index: number): readonly InjectedFailure[] {
  const { world } = moments[index] as Moment;
  return [blow('without power again and again', world, withoutUnsynced(world.files), true)];
}

const blow = (what: string, world: FrozenNode, files: FrozenFiles, reboot: boolean): InjectedFailure => ({
  what,
  world: { ...world, files },
  reboot,
});

/** Two blows with one description come to the same. */
export function describeFailure({
  world: { files, kubelet, boots, now, guard, uptimeMs },
  reboot,
}: InjectedFailure): string {
  return JSON.stringify([describeFiles(files), kubelet, boots, now, guard, uptimeMs, reboot]);
}

/** Without an agent for so long, a guarded node has to help itself. */
export const LONG_MS = 300_000;

/** What a run after a blow is held to. */
export interface Aftermath {
  /** How long no agent is there. */
  readonly awayMs: number;
  readonly endsOn: readonly number[];
  readonly moreStarts: number;
  /** How often the power is lost again, each time soon after the boot; none where that is left out. */
  readonly cuts?: number;
}

/** No agent is up so soon, nor has the guard looked. */
const CUT_MS = 10_000;

/** Goes on from where the agent ended, with another one. */
export async function recover(
  clean: CleanRun,
  { what, world, reboot }: InjectedFailure,
  after: Aftermath,
): Promise<void> {
  const { transition, start, known } = clean;
  const goOn = (from: FrozenNode): WholeNode => {
    const node = createWholeNode({ ...transition.options, from });
    later(node, transition, from.now - start.now);
    return node;
  };
  let node = goOn(world);
  if (reboot) node.reboot();
  for (let cut = 0; cut < (after.cuts ?? 0); cut += 1) {
    await node.pass(CUT_MS);
    const frozen = node.freeze();
    node = goOn({ ...frozen, files: withoutUnsynced(frozen.files) });
    node.reboot();
  }
  await node.pass(after.awayMs);
  if (after.cuts !== undefined) assert.ok(!isGuarding(node), 'the guard lets the kubelet start with it again');
  if (after.awayMs >= LONG_MS) assert.ok(node.kubelet.isHealthy(), 'the kubelet is not healthy without the agent');
  node.start();
  await node.pass(1_000);
  await comeToRest(node, after.endsOn, what);
  const mostStarts = transition.starts + after.moreStarts;
  hold(node, { endsOn: after.endsOn, mostStarts, known, leavesTemporaries: after.awayMs >= LONG_MS });
  await node.stop();
}

const isGuarding = (node: WholeNode): boolean =>
  decodePlan(Buffer.from(node.disk.tree()[guardPaths(STATE, UNIT_DIRECTORY).plan] ?? '')) !== undefined;

/** The disk is full for one call, or from one on until there is room again. */
export async function runFull(clean: CleanRun, index: number, until: 'once' | 'on'): Promise<void> {
  const { transition, start, known } = clean;
  const node = createWholeNode({ ...transition.options, from: start });
  let calls = -1;
  let isRoom = false;
  begin(node, transition);
  node.start((point): InjectedFault => {
    calls += 1;
    const isStruck = until === 'once' ? calls === index : calls >= index && !isRoom && needsSpace(point);
    if (!isStruck || point.call === 'restart-kubelet' || point.call === 'reload-units') return 'none';
    return point.call === 'write' ? 'torn-full' : 'full';
  });
  await node.pass(FULL_MS);
  // Without a guard there is nothing beside the files that could take their place.
  const { guard = false } = transition.options;
  if (guard || until === 'once') assert.ok(node.kubelet.isHealthy(), 'the kubelet is not healthy on a full disk');
  isRoom = true;
  // No config is refused for it.
  const endsOn = [transition.endsOn];
  await comeToRest(node, endsOn, `full ${until}`);
  // Without a guard, the kubelet dies again and again until there is room.
  const mostStarts = guard || until === 'once' ? transition.starts + 2 : Infinity;
  const expected = { endsOn, mostStarts, known, leavesTemporaries: false };
  hold(node, expected);
  await node.stop();
}

/** Names can be moved and removed on a disk that is full, and what is there can be written over. */
export const needsSpace = ({ call }: Point): boolean => ['create', 'write', 'sync', 'mkdir'].includes(call);

function hold(node: WholeNode, expected: Expectation): void {
  const story = node.kubelet.history.map(
    ({ at, config, refused }) => `${at} ms: ${String(config['maxPods'])} ${refused ?? ''}`,
  );
  const broken = brokenInvariants(node, expected);
  assert.ok(broken.length === 0, [...broken, ...story, ...node.kubelet.orders].join('\n'));
}

/** The agent notices what it cannot take back, and the guard that the agent is silent since then; and two of its ticks. */
const FULL_MS = 150_000;
const STEP_MS = 5_000;
const PATIENCE_MS = 600_000;
const STILLNESS_MS = 65_000;

/** Rests, and goes on resting: its next look changes nothing. */
async function comeToRest(node: WholeNode, endsOn: readonly number[], what: string): Promise<void> {
  const rests = (): boolean => endsOn.some((maxPods) => isAtRest(node, maxPods));
  let stillMs = 0;
  for (let waited = 0; stillMs < STILLNESS_MS; waited += STEP_MS) {
    assert.ok(!node.spins(), 'the agent looks again and again without a pause');
    if (waited > PATIENCE_MS) {
      const stands = { runs: node.kubelet.history.at(-1), state: node.agent().state() };
      throw new Error(`does not come to rest: ${what}\n${JSON.stringify(stands, null, 1)}`);
    }
    await node.pass(STEP_MS);
    // Whatever it found out meanwhile, its turn comes.
    node.grant();
    stillMs = rests() ? stillMs + STEP_MS : 0;
  }
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
