import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { describeError } from '#shared/runtime/log.ts';
import { CONFIG_FILE, DROP_INS } from '../../support/agent/fake-kubelet.ts';
import { UNIT_DIRECTORY } from '../../support/agent/fake-guard.ts';
import type { Point, InjectedFault } from '../../support/agent/crash-injection.ts';
import { isIdleOn } from '../../support/agent/whole-node-stories.ts';
import { createWholeNode, NODE, STATE, type WholeNode } from '../../support/agent/whole-node.ts';
import { sampleOf } from '../../support/sample.ts';

const HOUR_MS = 3_600_000;
const MOST_WRITES = 12;
const MOST_LINES = 30;
/** A node at rest beats so often at most. */
const MOST_HEARTBEATS = 15;

/** Where the agent writes. */
const PLACES = {
  everywhere: () => true,
  state: (path) => path.startsWith(`${STATE}/meta`),
  checkpoints: (path) => path.startsWith(`${STATE}/checkpoints`),
  'the copy of the local config': (path) => path.startsWith(`${STATE}/local`),
  config: (path) => path.startsWith(CONFIG_FILE) || path.startsWith(DROP_INS),
  guard: (path) => path.startsWith(`${STATE}/guard`) || path.startsWith(UNIT_DIRECTORY),
} satisfies Readonly<Record<string, (path: string) => boolean>>;

/** Which calls fail with a code. */
const CODES = {
  ENOSPC: ({ call }) => ['create', 'write', 'sync', 'mkdir'].includes(call),
  EROFS: ({ call }) => !['restart-kubelet', 'reload-units', 'stop-timer'].includes(call),
  EACCES: ({ call }) => ['create', 'write-over', 'mkdir', 'rename', 'unlink', 'rmdir'].includes(call),
  EPERM: ({ call }) => ['create', 'write-over', 'chown', 'chmod', 'rename', 'unlink'].includes(call),
  EIO: ({ call }) => ['write', 'write-over', 'sync', 'sync-directory'].includes(call),
  EMFILE: ({ call }) => ['create', 'write-over', 'sync-directory'].includes(call),
} satisfies Readonly<Record<string, (point: Point) => boolean>>;

/** What goes on at the node when its disk begins to refuse. */
const MOMENTS = {
  'a new config is assigned': async (node, refuse) => {
    refuse();
    node.assign({ maxPods: 120 });
  },
  'a config is on trial': async (node, refuse) => {
    node.assign({ maxPods: 120 });
    await node.until('judged', () => (node.status().trial?.healthySeconds ?? 0) > 0);
    refuse();
  },
  'a config fails its trial': async (node, refuse) => {
    node.assign({ maxPods: 130 });
    await node.until('judged', () => node.status().phase === 'Trial' && node.maxPods() === 130);
    refuse();
  },
  'nothing is assigned any more': async (node, refuse) => {
    refuse();
    node.unassign();
  },
  'somebody changes the files': async (node, refuse) => {
    refuse();
    node.disk.plant(`${DROP_INS}/99-kubelet-gitops.conf`, 'theirs');
    node.disk.plant(CONFIG_FILE, 'theirs');
  },
} satisfies Readonly<Record<string, (node: WholeNode, refuse: () => void) => Promise<void>>>;

interface Hour {
  readonly node: WholeNode;
  readonly lines: readonly string[];
  /** Writes of the status that say more than that the agent lives, and how far a trial is. */
  readonly writes: readonly Readonly<Record<string, unknown>>[];
  readonly heartbeats: number;
  readonly gets: number;
}

/** A node that has proven a config, and then an hour on a disk that refuses. */
async function hourOn({ place, code, moment }: Case, dropIns: boolean): Promise<Hour> {
  const lines: string[] = [];
  const log = pino({ serializers: { err: describeError } }, { write: (line: string) => void lines.push(line) });
  let refuses = false;
  const isRefused = (path: string): boolean => refuses && PLACES[place](path);
  const strike = (point: Point): InjectedFault =>
    isRefused(point.path) && CODES[code](point) ? { fails: code } : 'none';
  const strikeRead = (path: string): string | undefined =>
    isRefused(path) && (code === 'EMFILE' || code === 'EIO') ? code : undefined;
  const node = createWholeNode({ guard: true, dropIns, log, fates: { 130: 'dies' } });
  await node.stop();
  node.start(strike, strikeRead);
  const good = node.assign({ maxPods: 100 });
  await node.until('the first config is good', isIdleOn(node, good));
  await MOMENTS[moment](node, () => {
    refuses = true;
    for (const counted of [lines, node.kube.calls, node.kube.patches]) counted.length = 0;
  });
  await node.pass(HOUR_MS);
  const isNews = (patch: Readonly<Record<string, unknown>>): boolean =>
    Object.keys(patch).some((key) => key !== 'heartbeat' && key !== 'trial');
  const writes = node.kube.patches.filter(isNews);
  const heartbeats = node.kube.patches.filter((patch) => Object.keys(patch).join() === 'heartbeat').length;
  return { node, lines, writes, heartbeats, gets: node.kube.calls.filter((call) => call.startsWith('get')).length };
}

type Case = {
  readonly place: keyof typeof PLACES;
  readonly code: keyof typeof CODES;
  readonly moment: keyof typeof MOMENTS;
};

const keysOf = <T extends object>(table: T) => Object.keys(table) as (keyof T)[];
const CASES: readonly Case[] = keysOf(PLACES).flatMap((place) =>
  keysOf(CODES).flatMap((code) => keysOf(MOMENTS).map((moment) => ({ place, code, moment }))),
);

const conditionOf = (node: WholeNode, type: string): string | undefined =>
  node.status().conditions?.find((each) => each.type === type)?.status;

describe('an hour on a disk that refuses costs little, and is not called well', () => {
  for (const [index, each] of sampleOf([...CASES.entries()], 11)) {
    it(`${each.place}, ${each.code}, while ${each.moment}`, async (t) => {
      const { node, lines, writes, heartbeats, gets } = await hourOn(each, index % 2 === 0);
      const cost = `${writes.length} writes, ${heartbeats} heartbeats, ${lines.length} lines, ${gets} reads`;
      t.diagnostic(cost);
      const told = `${cost}\n${lines.join('')}\n${JSON.stringify(writes.slice(-6), null, 1)}`;
      assert.ok(writes.length <= MOST_WRITES, told);
      assert.ok(heartbeats <= MOST_HEARTBEATS, told);
      assert.ok(lines.length <= MOST_LINES, told);
      const { active, error, rejected = [] } = node.status();
      const wanted = node.wanted();
      const isRejected = rejected.some(({ sha256 }) => sha256 === wanted);
      if (active?.sha256 !== wanted || isRejected) assert.notEqual(conditionOf(node, 'Ready'), 'True', told);
      if (error?.reason !== 'CheckpointFailed' || node.status().phase !== 'Idle') return node.stop();
      const isPassing = each.code === 'ENOSPC' || each.code === 'EMFILE';
      assert.equal(conditionOf(node, 'Stalled'), isPassing ? 'False' : 'True', told);
      assert.equal(conditionOf(node, 'CheckpointsIntact'), 'False', told);
      return node.stop();
    });
  }
});

describe('an assignment that a disk keeps from being taken up', () => {
  for (const code of ['ENOSPC', 'EROFS', 'EACCES'] as const) {
    it(`is an error and not Ready, for the generation that has it: ${code}`, async () => {
      const { node } = await hourOn({ place: 'state', code, moment: 'a new config is assigned' }, true);
      const { error, conditions = [], assigned, observedGeneration } = node.status();
      assert.equal(error?.reason, 'CheckpointFailed');
      assert.equal(error.config, node.kube.spec(NODE).configSource?.name);
      assert.doesNotMatch(error.message, /tmp-/);
      assert.notEqual(assigned?.sha256, node.wanted());
      const ready = conditions.find(({ type }) => type === 'Ready');
      assert.deepEqual(
        [ready?.status, ready?.reason, ready?.observedGeneration],
        ['False', 'CheckpointFailed', observedGeneration],
      );
      assert.equal(node.agent().view().status?.status?.error?.reason, 'CheckpointFailed');
    });
  }
});
