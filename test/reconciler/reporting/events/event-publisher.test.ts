import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EventObject } from '#reconciler/reporting/events/event-object.ts';
import type { ClusterEvent } from '#reconciler/reporting/events/cluster-event.ts';
import {
  createEventPublisher,
  type EventOutcome,
  type EventPublisher,
} from '#reconciler/reporting/events/event-publisher.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import { EVENTS, type Kube } from '#shared/kube/kube.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts';

/** An API server's Events, with the two rules that matter here: a name is taken once, and a namespace may be refused. */
function eventStore(refusedNamespace = '') {
  const events = new Map<string, EventObject>();
  let away = false;
  const kube: Pick<Kube, 'create' | 'mergePatch'> = {
    async create(place, object) {
      if (away) throw new KubeError('KUBE_UNREACHABLE', 'away');
      assert.equal(place.resource, EVENTS);
      if (place.namespace === refusedNamespace) {
        throw new KubeError(
          'KUBE_INVALID',
          'involvedObject.namespace: Invalid value: "": does not match event.namespace',
        );
      }
      const { name } = object.metadata;
      if (events.has(name)) throw new KubeError('KUBE_ALREADY_EXISTS', 'there');
      events.set(name, object as KubeObject as EventObject);
      return object;
    },
    async mergePatch(_place, name, patch) {
      const event = events.get(name);
      if (event === undefined) throw new KubeError('KUBE_NOT_FOUND', 'gone');
      events.set(name, { ...event, ...patch });
      return event as never;
    },
  };
  return { kube: kube as Kube, events, goAway: (now: boolean) => (away = now) };
}

const occurrence = (number: number, over: Partial<ClusterEvent> = {}): ClusterEvent => ({
  about: { kind: 'Node', name: `node-${number}`, uid: `uid-${number}` },
  reason: 'ConfigApplied',
  type: 'Normal',
  note: 'it did',
  pool: 'web',
  config: 'web-1',
  identity: `applied ${number}`,
  ...over,
});

async function publishing(
  kube: Kube,
  see: (publisher: EventPublisher, clock: ManualClock, outcomes: readonly EventOutcome[]) => Promise<void>,
  mayWrite = () => true,
): Promise<void> {
  const clock = createManualClock();
  const outcomes: EventOutcome[] = [];
  const publisher = createEventPublisher({
    kube,
    instance: 'reconciler-0',
    mayWrite,
    clock,
    random: () => 0,
    log: silentLog,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  const stop = new AbortController();
  const running = publisher.run(stop.signal);
  await see(publisher, clock, outcomes);
  stop.abort();
  await running;
}

describe('Events', () => {
  it('are written at ten a second after a burst of fifty, so that a fleet cannot flood the API server', async () => {
    const { kube, events } = eventStore();
    await publishing(kube, async (publisher, clock) => {
      publisher.publish(Array.from({ length: 200 }, (_, number) => occurrence(number)));
      await clock.advance(0);
      assert.equal(events.size, 50);
      await clock.advance(5_000);
      assert.equal(events.size, 100);
      await clock.advance(10_000);
      assert.equal(events.size, 200);
    });
  });

  it('beyond two thousand that wait, the oldest are dropped and counted', async () => {
    const { kube, events } = eventStore();
    let mayWrite = false;
    await publishing(
      kube,
      async (publisher, clock, outcomes) => {
        for (const half of [0, 1_050]) {
          publisher.publish(Array.from({ length: 1_050 }, (_, number) => occurrence(half + number)));
          await clock.advance(0);
        }
        assert.equal(outcomes.filter((outcome) => outcome === 'dropped').length, 100);
        mayWrite = true;
        await clock.advance(10 * 60_000);
        const told = [...events.values()].map(({ regarding }) => regarding.name);
        assert.deepEqual([told.length, told[0], told.at(-1)], [2_000, 'node-100', 'node-2099']);
      },
      () => mayWrite,
    );
  });

  it('a repetition within minutes is counted in the series of the first', async () => {
    const { kube, events } = eventStore();
    await publishing(kube, async (publisher, clock) => {
      for (const begin of ['1', '2', '3']) {
        publisher.publish([occurrence(1, { reason: 'ConfigDrifted', identity: `trouble ${begin}` })]);
        await clock.advance(60_000);
      }
      assert.deepEqual(
        [...events.values()].map(({ series }) => series?.count),
        [3],
      );
      await clock.advance(10 * 60_000);
      publisher.publish([occurrence(1, { reason: 'ConfigDrifted', identity: 'trouble 4' })]);
      await clock.advance(60_000);
      assert.equal(events.size, 2);
    });
  });

  it('the same config assigned by another commit is an Event of its own, so that none names a commit that it was not', async () => {
    const { kube, events } = eventStore();
    await publishing(kube, async (publisher, clock) => {
      for (const commit of ['aaa', 'bbb']) {
        const note = `Assigned web-1 (pool web, commit ${commit})`;
        publisher.publish([occurrence(1, { reason: 'ConfigAssigned', note, identity: `assigned by ${commit}` })]);
        await clock.advance(60_000);
      }
      assert.deepEqual(
        [...events.values()].map(({ note, series }) => [note.slice(-4, -1), series?.count ?? 1]),
        [
          ['aaa', 1],
          ['bbb', 1],
        ],
      );
    });
  });

  it('each approval, and each wait for one, is an Event of its own, so that all of them say who it was', async () => {
    const { kube, events } = eventStore();
    await publishing(kube, async (publisher, clock) => {
      for (const reason of ['WaitsForApproval', 'Approved'] as const)
        for (const note of ['wave canary, ada', 'wave step 1, grace']) {
          publisher.publish([occurrence(1, { reason, note, identity: `${reason} ${note}` })]);
          await clock.advance(60_000);
        }
      assert.equal(events.size, 4);
    });
  });

  it('a second process that tells of the same is refused, and takes that for done', async () => {
    const { kube, events } = eventStore();
    await publishing(kube, async (publisher, clock) => {
      publisher.publish([occurrence(1)]);
      await clock.advance(0);
    });
    await publishing(kube, async (publisher, clock, outcomes) => {
      publisher.publish([occurrence(1)]);
      await clock.advance(0);
      assert.deepEqual(outcomes, ['known']);
    });
    assert.equal(events.size, 1);
  });

  it('wait for an API server that is away, and are then written in order', async () => {
    const { kube, events, goAway } = eventStore();
    await publishing(kube, async (publisher, clock) => {
      goAway(true);
      publisher.publish([occurrence(1), occurrence(2)]);
      await clock.advance(60_000);
      assert.equal(events.size, 0);
      goAway(false);
      await clock.advance(10 * 60_000);
      assert.deepEqual(
        [...events.values()].map(({ regarding }) => regarding.name),
        ['node-1', 'node-2'],
      );
    });
  });

  it('go to kube-system where the API server is older than 1.23', async () => {
    const { kube, events } = eventStore('default');
    await publishing(kube, async (publisher, clock) => {
      publisher.publish([occurrence(1), occurrence(2)]);
      await clock.advance(1_000);
      assert.deepEqual(
        [...events.values()].map(({ metadata }) => metadata.namespace),
        ['kube-system', 'kube-system'],
      );
    });
  });

  it('name a Node as its kubelet does, by its name, and a pool by its uid', async () => {
    const { kube, events } = eventStore();
    await publishing(kube, async (publisher, clock) => {
      publisher.publish([occurrence(1), occurrence(2, { about: { kind: 'KubeletPool', name: 'web', uid: 'of-web' } })]);
      await clock.advance(0);
      assert.deepEqual(
        [...events.values()].map(({ regarding }) => regarding.uid),
        ['node-1', 'of-web'],
      );
    });
  });

  it('have a name that the API server takes, however long the name of what they are about is', async () => {
    const { kube, events } = eventStore();
    await publishing(kube, async (publisher, clock) => {
      const name = `${'n'.repeat(63)}.${'o'.repeat(63)}.${'d'.repeat(63)}.e${'x'.repeat(6)}--.${'z'.repeat(40)}`;
      assert.match(name.slice(0, 200), /-$/);
      publisher.publish([occurrence(1, { about: { kind: 'Node', name, uid: 'uid' } })]);
      await clock.advance(0);
      const [written = ''] = events.keys();
      assert.match(written, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
    });
  });

  it('carry no credential that a message may hold, and no more than the API server takes', async () => {
    const { kube, events } = eventStore();
    await publishing(kube, async (publisher, clock) => {
      publisher.publish([occurrence(1, { note: `https://user:secret@host/x ${'long '.repeat(500)}` })]);
      await clock.advance(0);
      const [event] = events.values();
      assert.ok(event !== undefined && Buffer.byteLength(event.note) <= 1024);
      assert.doesNotMatch(event.note, /secret/);
    });
  });
});
