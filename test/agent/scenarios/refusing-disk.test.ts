import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { createLog } from '#shared/runtime/log.ts';
import { CONFIG_FILE, DROP_INS } from '../../support/agent/fake-kubelet.ts';
import { UNIT_DIRECTORY } from '../../support/agent/fake-guard.ts';
import type { Point, Strike } from '../../support/agent/mortal.ts';
import { isIdleOn } from '../../support/agent/whole-node-stories.ts';
import { createWholeNode, STATE, type WholeNode } from '../../support/agent/whole-node.ts';
import { EVERY_POINT, sampleOf } from '../../support/sample.ts';

const HOUR_MS = 3_600_000;
const MOST_WRITES = 12;
const MOST_LINES = 30;
/** A node at rest beats so often at most. */
const MOST_HEARTBEATS = 15;

/** Where the agent writes. */
const PLACES: Readonly<Record<string, (path: string) => boolean>> = {
  everywhere: () => true,
  state: (path) => path.startsWith(`${STATE}/meta`),
  checkpoints: (path) => path.startsWith(`${STATE}/checkpoints`),
  'the copy of the local config': (path) => path.startsWith(`${STATE}/local`),
  config: (path) => path.startsWith(CONFIG_FILE) || path.startsWith(DROP_INS),
  guard: (path) => path.startsWith(`${STATE}/guard`) || path.startsWith(UNIT_DIRECTORY),
};

/** Calls that fail with a code. The first letters of a system's message are the code. */
const CODES: Readonly<Record<string, (point: Point) => boolean>> = {
  ENOSPC: ({ call }) => ['create', 'write', 'sync', 'mkdir'].includes(call),
  EROFS: ({ call }) => !['restart-kubelet', 'reload-units', 'stop-timer'].includes(call),
  EACCES: ({ call }) => ['create', 'write-over', 'mkdir', 'rename', 'unlink', 'rmdir'].includes(call),
  EPERM: ({ call }) => ['create', 'write-over', 'chown', 'chmod', 'rename', 'unlink'].includes(call),
  EIO: ({ call }) => ['write', 'write-over', 'sync', 'sync-directory'].includes(call),
  EMFILE: ({ call }) => ['create', 'write-over', 'sync-directory'].includes(call),
};

/** What goes on at the node when its disk begins to refuse. */
const MOMENTS: Readonly<Record<string, (node: WholeNode, refuse: () => void) => Promise<void>>> = {
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
};

async function count(place: (path: string) => boolean, code: string, moment: string, dropIns: boolean) {
  const lines: string[] = [];
  const log = pino(
    { level: 'info', serializers: { err: (error: unknown) => String(error) } },
    { write: (line: string) => void lines.push(line) },
  );
  let refuses = false;
  const strike = (point: Point): Strike =>
    refuses && place(point.path) && (CODES[code] as (point: Point) => boolean)(point) ? { fails: code } : 'none';
  const strikeRead = (path: string): string | undefined =>
    refuses && place(path) && ['EMFILE', 'EIO'].includes(code) ? code : undefined;
  const node = createWholeNode({ guard: true, dropIns, log, fates: { 130: 'dies' } });
  await node.stop();
  node.start(strike, strikeRead);
  const good = node.assign({ maxPods: 100 });
  await node.until('the first config is good', isIdleOn(node, good));
  await (MOMENTS[moment] as (typeof MOMENTS)[string])(node, () => {
    refuses = true;
    for (const counted of [lines, node.kube.calls, node.kube.patches]) counted.length = 0;
  });
  await node.pass(HOUR_MS);
  const writes = node.kube.patches.filter((patch) => Object.keys(patch).some((key) => key !== 'heartbeat'));
  const gets = node.kube.calls.filter((call) => call.startsWith('get'));
  const found = { writes: writes.length, beats: node.kube.patches.length - writes.length, lines: lines.length, gets: gets.length };
  return { node, found, lines, writes };
}

const cases = Object.keys(PLACES).flatMap((place) =>
  Object.keys(CODES).flatMap((code) => Object.keys(MOMENTS).map((moment) => ({ place, code, moment }))),
);

describe('an hour on a disk that refuses', () => {
  for (const [index, { place, code, moment }] of cases.entries()) {
    it(`${place} with ${code} while ${moment}`, async () => {
      const { node, found, lines, writes } = await count(PLACES[place] as never, code, moment, index % 2 === 0);
      const told = `${JSON.stringify(found)}\n${lines.join('')}\n${JSON.stringify(writes.slice(-6), null, 1)}`;
      if (process.env['SHOW']) console.log(place, code, moment, JSON.stringify(found), node.status().phase, node.status().error?.reason);
      assert.ok(found.writes <= MOST_WRITES, `${found.writes} writes: ${told}`);
      assert.ok(found.beats <= MOST_HEARTBEATS, `${found.beats} heartbeats`);
      assert.ok(found.lines <= MOST_LINES, `${found.lines} lines: ${told}`);
      await node.stop();
    });
  }
});
void [createLog, EVERY_POINT, sampleOf];
