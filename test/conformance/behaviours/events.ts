import assert from 'node:assert/strict';
import { type EventObject, eventObject, toMicroTime } from '#reconciler/events/event-object.ts';
import type { Occurrence } from '#reconciler/events/occurrence.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { EVENTS, type Kube, type Place } from '#shared/kube/kube.ts';
import type { Behaviour } from '../suite.ts';
import { refusalOf } from '../support/bench.ts';

const NOW = Date.parse('2026-05-01T10:00:00.123Z');

const occurrence = (name: string): Occurrence => ({
  about: { kind: 'Node', name, uid: `uid-of-${name}` },
  happening: 'ConfigFellBack',
  type: 'Warning',
  note: 'web-1 was taken back: CrashLoop: it crashed',
  pool: 'web',
  config: 'web-1',
  identity: 'failed web-1',
});

const at = (namespace: string): Place => ({ resource: EVENTS, namespace });
const eventOf = (occurred: Occurrence, namespace: string, by = 'reconciler-0'): EventObject =>
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

export const eventBehaviours: readonly Behaviour[] = [
  [
    'an Event about a Node is taken in the namespace default, or before 1.23 in kube-system',
    async ({ kube, fresh }) => {
      const AT = await theirPlace(kube);
      const event = eventOf(occurrence(fresh()), AT.namespace);
      const made = await kube.create<EventObject>(AT, event);
      assert.equal(made.reason, 'ConfigFellBack');
      assert.equal(made.note, event.note);
      assert.equal(Date.parse(made.eventTime), NOW);
    },
  ],
  [
    'the same occurrence makes the same name, and is refused the second time',
    async ({ kube, fresh }) => {
      const name = fresh();
      const AT = await theirPlace(kube);
      await kube.create(AT, eventOf(occurrence(name), AT.namespace));
      const again = kube.create(AT, eventOf(occurrence(name), AT.namespace, 'reconciler-1'));
      assert.equal((await refusalOf(again)).code, 'KUBE_ALREADY_EXISTS');
    },
  ],
  [
    'a repetition is counted in the series of the Event',
    async ({ kube, fresh }) => {
      const AT = await theirPlace(kube);
      const event = eventOf(occurrence(fresh()), AT.namespace);
      await kube.create(AT, event);
      const series = { count: 2, lastObservedTime: toMicroTime(NOW + 1_000) };
      const written = await kube.mergePatch<EventObject>(AT, event.metadata.name, { series });
      assert.equal(written.series?.count, 2);
    },
  ],
  [
    'an Event about a Node is refused in another namespace',
    async ({ kube, fresh }) => {
      const elsewhere = 'kubelet-gitops';
      const made = kube.create(at(elsewhere), eventOf(occurrence(fresh()), elsewhere));
      assert.equal((await refusalOf(made)).code, 'KUBE_INVALID');
    },
  ],
  [
    'an Event without an action is refused',
    async ({ kube, fresh }) => {
      const AT = await theirPlace(kube);
      const event = eventOf(occurrence(fresh()), AT.namespace);
      assert.equal((await refusalOf(kube.create(AT, { ...event, action: '' }))).code, 'KUBE_INVALID');
    },
  ],
  [
    'a note that is cut to its bound is taken, whatever it is made of',
    async ({ kube, fresh }) => {
      const long = { ...occurrence(fresh()), note: 'é'.repeat(2_000) };
      const AT = await theirPlace(kube);
      const made = await kube.create<EventObject>(AT, eventOf(long, AT.namespace));
      assert.ok(Buffer.byteLength(made.note) <= 1024);
    },
  ],
];
