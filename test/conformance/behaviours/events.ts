import assert from 'node:assert/strict';
import { type EventObject, eventObject } from '#reconciler/reporting/events/event-object.ts';
import { toMicroTime } from '#reconciler/cluster/kube/micro-time.ts';
import type { ClusterEvent } from '#reconciler/reporting/events/cluster-event.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { EVENTS, type Kube, type Place } from '#shared/kube/kube.ts';
import type { Behaviours } from '../suite.ts';
import { refusalOf, take } from '../support/bench.ts';
import type { Loose } from '../support/raw.ts';

const NOW = Date.parse('2026-05-01T10:00:00.123Z');

const occurrence = (name: string): ClusterEvent => ({
  about: { kind: 'Node', name, uid: `uid-of-${name}` },
  reason: 'ConfigFellBack',
  type: 'Warning',
  note: 'web-1 was taken back: CrashLoop: it crashed',
  pool: 'web',
  config: 'web-1',
  identity: 'failed web-1',
});

const at = (namespace: string): Place => ({ resource: EVENTS, namespace });
const eventOf = (occurred: ClusterEvent, namespace: string, by = 'reconciler-0'): EventObject =>
  eventObject(occurred, namespace, by, NOW);

/** Where this server takes Events about cluster-scoped objects: before 1.23 in `kube-system` alone. */
async function theirPlace(kube: Kube): Promise<Place & { readonly namespace: string }> {
  const probe = eventOf(occurrence('probe'), 'default');
  const refused = await kube.create(at('default'), probe).then(
    () => false,
    (error: unknown) => isKubeError(error, 'KUBE_INVALID'),
  );
  return { resource: EVENTS, namespace: refused ? 'kube-system' : 'default' };
}

export const eventBehaviours: Behaviours = {
  async 'an Event about a Node is taken in the namespace default, or before 1.23 in kube-system'({ kube, fresh }) {
    const AT = await theirPlace(kube);
    const event = eventOf(occurrence(fresh()), AT.namespace);
    const made = await kube.create<EventObject>(AT, event);
    assert.equal(made.reason, 'ConfigFellBack');
    assert.equal(made.note, event.note);
    assert.equal(Date.parse(made.eventTime), NOW);
  },
  async 'the same occurrence makes the same name, and is refused the second time'({ kube, fresh }) {
    const name = fresh();
    const AT = await theirPlace(kube);
    await kube.create(AT, eventOf(occurrence(name), AT.namespace));
    const again = kube.create(AT, eventOf(occurrence(name), AT.namespace, 'reconciler-1'));
    assert.equal((await refusalOf(again)).code, 'KUBE_ALREADY_EXISTS');
  },
  async 'a repetition is counted in the series of the Event'({ kube, fresh }) {
    const AT = await theirPlace(kube);
    const event = eventOf(occurrence(fresh()), AT.namespace);
    await kube.create(AT, event);
    const series = { count: 2, lastObservedTime: toMicroTime(NOW + 1_000) };
    const written = await kube.mergePatch<EventObject>(AT, event.metadata.name, { series });
    assert.equal(written.series?.count, 2);
  },
  async 'an Event is one and the same by both API groups, under the names of each'({ kube, raw, fresh }) {
    const AT = await theirPlace(kube);
    const event = eventOf(occurrence(fresh()), AT.namespace);
    const { metadata } = await kube.create<EventObject>(AT, event);
    const path = `/api/v1/namespaces/${AT.namespace}/events/${metadata.name}`;
    const older = (await raw.call({ path })).json();
    assert.equal(older.apiVersion, 'v1');
    assert.equal(older.metadata.uid, metadata.uid);
    assert.equal(older.metadata.resourceVersion, metadata.resourceVersion);
    assert.equal(older.involvedObject.name, event.regarding.name);
    assert.equal(older.message, event.note);
    assert.equal(older.reportingComponent, event.reportingController);
    assert.equal(older.regarding, undefined);
    assert.equal((await raw.call({ method: 'PATCH', path, body: { message: 'another' } })).status, 200);
    assert.equal((await kube.get<EventObject>(AT, metadata.name))?.note, 'another');
    assert.equal((await raw.call({ method: 'DELETE', path })).status, 200);
    assert.equal(await kube.get(AT, metadata.name), null);
  },
  async 'Events are found by what they are about, as kubectl describe looks for them'({ kube, raw, fresh }) {
    const AT = await theirPlace(kube);
    const name = fresh();
    const { metadata } = await kube.create<EventObject>(AT, eventOf(occurrence(name), AT.namespace));
    await kube.create(AT, eventOf(occurrence(fresh()), AT.namespace));
    const found = async (path: string, fieldSelector: string): Promise<readonly string[]> => {
      const list = (await raw.call({ path, query: { fieldSelector } })).json();
      return list.items.map((item: Loose) => item.metadata.name);
    };
    const about = `involvedObject.name=${name},involvedObject.namespace=,involvedObject.kind=Node`;
    assert.deepEqual(await found('/api/v1/events', `${about},involvedObject.uid=${name}`), [metadata.name]);
    assert.deepEqual(await found('/api/v1/events', `${about},involvedObject.uid=another`), []);
    assert.deepEqual(await found('/api/v1/events', `${about},reason=ConfigFellBack,type!=Warning`), []);
    assert.deepEqual(await found('/apis/events.k8s.io/v1/events', `regarding.name=${name}`), [metadata.name]);
  },
  async 'Events cannot be selected by a field that is none of theirs'({ raw }) {
    const answer = await raw.call({ path: '/api/v1/events', query: { fieldSelector: 'message=x' } });
    assert.equal(answer.status, 400);
  },
  async 'the note of an Event cannot be changed, its series can'({ kube, raw, fresh, connection }) {
    const AT = await theirPlace(kube);
    const event = eventOf(occurrence(fresh()), AT.namespace);
    await kube.create(AT, event);
    const path = `/apis/events.k8s.io/v1/namespaces/${AT.namespace}/events/${event.metadata.name}`;
    const changed = await raw.call({ method: 'PATCH', path, body: { note: 'again' } });
    // Servers before 1.23 take it.
    assert.equal(changed.status, connection.minor < 23 ? 200 : 422, changed.text);
    const series = { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' };
    assert.equal((await raw.call({ method: 'PATCH', path, body: { series } })).status, 200);
  },
  async 'a watch of the first API group hears of Events that are written by the other one'({ kube, raw, fresh }) {
    const AT = await theirPlace(kube);
    const name = fresh();
    const path = '/api/v1/events';
    const { metadata: at } = (await raw.call({ path, query: { limit: '1' } })).json();
    const event = eventOf(occurrence(name), AT.namespace);
    await kube.create(AT, event);
    const series = { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' };
    await kube.mergePatch(AT, event.metadata.name, { series });
    const query = {
      fieldSelector: `involvedObject.name=${name}`,
      resourceVersion: String(at.resourceVersion),
      timeoutSeconds: '120',
    };
    const heard = await take(2, await raw.watch({ path, query }));
    assert.deepEqual(
      heard.map(({ type, object }: Loose) => [
        type,
        object.apiVersion,
        object.involvedObject.name,
        object.series?.count,
      ]),
      [
        ['ADDED', 'v1', name, undefined],
        ['MODIFIED', 'v1', name, 2],
      ],
    );
  },
  async 'an Event about a Node is refused in another namespace'({ kube, fresh }) {
    const elsewhere = 'kubelet-gitops';
    const made = kube.create(at(elsewhere), eventOf(occurrence(fresh()), elsewhere));
    assert.equal((await refusalOf(made)).code, 'KUBE_INVALID');
  },
  async 'an Event without an action is refused'({ kube, fresh }) {
    const AT = await theirPlace(kube);
    const event = eventOf(occurrence(fresh()), AT.namespace);
    assert.equal((await refusalOf(kube.create(AT, { ...event, action: '' }))).code, 'KUBE_INVALID');
  },
  async 'a note that is cut to its bound is taken, whatever it is made of'({ kube, fresh }) {
    const long = { ...occurrence(fresh()), note: 'é'.repeat(2_000) };
    const AT = await theirPlace(kube);
    const made = await kube.create<EventObject>(AT, eventOf(long, AT.namespace));
    assert.ok(Buffer.byteLength(made.note) <= 1024);
  },
};
