import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readNote } from '#cli/history/read-note.ts';
import { plain } from '#cli/paint.ts';
import { renderStatus, type StatusView } from '#cli/status/render.ts';
import { statusAsJson } from '#cli/status/status-json.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { eventsOfPool } from '#reconciler/reporting/events/pool-events.ts';
import { buildModel } from '#reconciler/reporting/status-page/build-model.ts';
import { toText } from '#reconciler/reporting/status-page/html.ts';
import { ALL_NODES, type PageRequest } from '#reconciler/reporting/status-page/page-request.ts';
import { renderPage } from '#reconciler/reporting/status-page/render/render-page.ts';
import { nextNote, noteOfPredecessor } from '#reconciler/reporting/notes/commit-note.ts';
import { noteContent } from '#reconciler/reporting/notes/note-content.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import { commit, COMMIT_A } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { noteProblems } from '../../support/note-schema.ts';
import { sizedNode, sizedPool } from '../../support/rollout/sized-pool.ts';
import { passResultIn } from '../../reconciler/reporting/status-page/pass-results.ts';
import { columns } from '../../support/columns.ts';

const MINUTE = 60_000;
const [LARGE, SMALL, TINY] = ['memory=63488Mi', 'memory=7680Mi', 'memory=1984Mi'];
const HELD = /^memory=1984Mi: 1 node keeps what it has: systemReserved\.memory cannot be computed: /;

/** Three classes: of the largest two nodes of three run their config, as the third has no agent; for the smallest there is none. */
function underWay(): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const name of ['l-1', 'l-2', 'l-3']) fleet.addNode(sizedNode(name, 16, 62.3));
  fleet.addNode(sizedNode('s-1', 2, 7.7));
  fleet.addNode(sizedNode('t-1', 1, 1.95));
  const rollout = '{maxUnavailable: 3}';
  fleet.inForce = commit(
    COMMIT_A,
    sizedPool('computed: {systemReserved: {memory: \'memory - quantity("4Gi")\'}}\n', rollout),
  );
  for (let minute = 0; minute < 20; minute += 1) {
    fleet.reconcile();
    for (const name of ['l-1', 'l-2', 's-1', 't-1']) fleet.agentStep(name);
    fleet.now += MINUTE;
  }
  fleet.reconcile();
  return fleet;
}

function without<T extends object, K extends keyof T>(whole: T, key: K): Omit<T, K> {
  const { [key]: _left, ...rest } = whole;
  return rest;
}

const fleet = underWay();
const pool = fleet.fleet.pools.get('x') as KubeletPool;
const nodes = [...fleet.fleet.kubeletNodes.values()];
const configOf = (name: string): string =>
  pool.status?.classes?.find((each) => each.name === name)?.configName ?? 'none';
const view = (present: KubeletPool): StatusView => ({
  source: { ...NO_STATE, commit: COMMIT_A },
  pools: [present],
  nodes,
});
const status = (present: KubeletPool, isWide = false): string =>
  renderStatus({ ...view(present), isWide }, plain, fleet.now);

describe('classes of machines', () => {
  it('stand in the status of their pool, with how many nodes run the config, or why there is none', () => {
    const classes = pool.status?.classes ?? [];
    assert.deepEqual(columns(classes, 'name', 'nodes', 'updated'), [
      [LARGE, 3, 2],
      [TINY, 1, undefined],
      [SMALL, 1, 1],
    ]);
    assert.match(
      classes.find(({ name }) => name === TINY)?.message ?? '',
      /^systemReserved\.memory cannot be computed/,
    );
    assert.match(pool.status?.message ?? '', /^3 of 5 nodes run the config of their class of machines/);
    assert.equal(pool.status?.counts?.updated, 3);
  });

  it('are shown by status below their pool: what is held or unfinished first', () => {
    const lines = status(pool).split('\n');
    const at = lines.findIndex((line) => line.startsWith('x '));
    assert.match(lines[at] ?? '', / 3 classes$/);
    const below = lines.slice(at + 1).filter((line) => line.startsWith('  memory='));
    assert.match(below[0]?.trim() ?? '', HELD);
    assert.deepEqual(below.slice(1), [
      `  ${LARGE}: 2 of 3 nodes run ${configOf(LARGE)}`,
      `  ${SMALL}: 1 of 1 node runs ${configOf(SMALL)}`,
    ]);
    assert.ok(!lines.some((line) => line.includes(pool.status?.configName ?? '?')), 'nobody runs the template');
  });

  it('are all shown by status only where somebody asks for them', () => {
    const many = Array.from({ length: 9 }, (_, index) => ({
      name: `cpu=${index}`,
      nodes: 1,
      updated: 1,
      configName: 'x-1',
    }));
    const crowded = { ...pool, status: { ...pool.status, classes: many } };
    assert.match(status(crowded), /\n {2}cpu=5: .*\n {2}and 3 more: -o wide shows every class of machines\n/);
    assert.match(status(crowded, true), /\n {2}cpu=8: 1 of 1 node runs x-1\n/);
    assert.doesNotMatch(status(crowded, true), /more:/);
  });

  it('are understood without the count', () => {
    const older = (pool.status?.classes ?? []).map((each) => without(each, 'updated'));
    const present = { ...pool, status: { ...pool.status, classes: older } };
    assert.ok(status(present).includes(`\n  ${LARGE}: 3 nodes to run ${configOf(LARGE)}\n`));
    assert.doesNotMatch(
      `${status(present)}${JSON.stringify(statusAsJson(view(present), true, [], 0))}`,
      /undefined|NaN/,
    );
  });

  it('are in what status gives programs', () => {
    const { pools } = statusAsJson(view(pool), false, undefined, 0) as { pools: { classes: object[] }[] };
    const [large, ...others] = pools[0]?.classes ?? [];
    assert.deepEqual(large, { name: LARGE, nodes: 3, updated: 2, config: configOf(LARGE), message: null });
    const held = others.find((each) => (each as { name: string }).name === TINY) as { config: null; message: string };
    assert.equal(held.config, null);
    assert.match(held.message, /cannot be computed/);
  });

  it('are a table on the page of their pool, and counted on the first page', () => {
    const model = buildModel(passResultIn(fleet), { cluster: 'prod', version: '1', forge: undefined }, fleet.now);
    const draw = (question: PageRequest): string => {
      const page = renderPage(model, question);
      assert.ok(page !== null);
      return toText(page).replaceAll(/\s+/g, ' ');
    };
    const page = draw({ page: 'pool', pool: 'x', filter: ALL_NODES });
    assert.match(page, /<h2 id="classes">Classes of machines<\/h2>/);
    assert.match(page, new RegExp(`<code>${LARGE}</code></th>.*?>3</td>.*?>2</td>.*?<code>${configOf(LARGE)}</code>`));
    assert.match(page, /none, so its nodes keep what they have: systemReserved\.memory cannot be computed/);
    assert.ok(page.indexOf(TINY) < page.indexOf(LARGE), 'what is held comes first');
    const first = draw({ page: 'overview' });
    assert.match(first, /one for each of 3 classes of machines/);
  });

  it('are in the note of their commit, which history reads, and of no news when nodes come and go', () => {
    const note = noteOfPredecessor('prod', COMMIT_A, [pool]);
    const { text, data } = noteContent(note);
    assert.deepEqual(noteProblems(data), []);
    assert.match(text, /^x +Waiting +3\/5 +0 +by class of machines$|^x +Progressing +3\/5 +0 +by class of machines$/m);
    assert.match(text, new RegExp(`^x: ${LARGE}: 2 of 3 nodes run ${configOf(LARGE)}$`, 'm'));
    assert.match(text, /^x: memory=1984Mi: 1 node keeps what it has: /m);
    assert.doesNotMatch(text, new RegExp(`^x: ${SMALL}`, 'm'));
    const read = readNote(text, data);
    assert.deepEqual(read?.pools, ['x 3/5 in 3 classes']);
    assert.equal(read?.heldClasses?.length, 1);
    assert.match(read?.heldClasses?.[0] ?? '', /^x: memory=1984Mi: 1 node keeps what it has: /);
    const done = { ...note, outcome: 'settled' } as const;
    const [noted] = done.pools;
    assert.ok(noted !== undefined);
    const joined = { ...done, pools: [{ ...noted, classes: (noted.classes ?? []).slice(1) }] };
    assert.equal(nextNote(done, joined, true), done);
  });

  it('are told of in an Event where they are held, once, and the Event of a settled pool names no template', () => {
    const told = eventsOfPool(pool).filter(({ reason }) => reason === 'ClassHeld');
    assert.equal(told.length, 1);
    assert.match(told[0]?.note ?? '', /^Machines with memory=1984Mi: 1 node keeps what it has: /);
    assert.equal(told[0]?.type, 'Warning');
    const ready = { type: 'Ready', status: 'True', reason: 'Settled', message: '', lastTransitionTime: 't' } as const;
    const settled = { ...pool, status: { ...pool.status, phase: 'Settled', conditions: [ready] } } as const;
    const note = eventsOfPool(settled).find(({ reason }) => reason === 'RolloutSettled')?.note;
    assert.equal(note, 'All 5 nodes run the config of their class of machines and have proven it');
  });

  it('are not there for a pool whose nodes all get the same', () => {
    const same = { ...pool, status: without(pool.status ?? {}, 'classes') };
    assert.ok(status(same).includes(pool.status?.configName ?? '?'));
    assert.doesNotMatch(noteContent(noteOfPredecessor('prod', COMMIT_A, [same])).data, /classes/);
  });
});
