import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventObject } from '#reconciler/reporting/events/event-object.ts';
import type { ClusterEvent } from '#reconciler/reporting/events/cluster-event.ts';

const made = (over: Partial<ClusterEvent> = {}, by = 'reconciler-0') =>
  eventObject(
    {
      about: { kind: 'Node', name: 'n1', uid: 'u' },
      reason: 'ConfigApplied',
      type: 'Normal',
      note: 'it did',
      pool: 'web',
      config: 'web-1',
      identity: 'applied',
      ...over,
    },
    'default',
    by,
    0,
  );

describe('an Event', () => {
  it('keeps to what the API server takes: 128 characters of who reports, 1,024 bytes of note, whole characters', () => {
    assert.equal(made({}, 'r'.repeat(200)).reportingInstance, 'r'.repeat(128));
    assert.equal(made({ note: 'n'.repeat(1_024) }).note, 'n'.repeat(1_024));
    assert.equal(made({ note: 'n'.repeat(1_025) }).note, `${'n'.repeat(1_021)}…`);
    const { note } = made({ note: '€'.repeat(400) });
    assert.match(note, /^€+…$/);
    assert.ok(Buffer.byteLength(note) <= 1_024 && Buffer.byteLength(note) > 1_018);
  });

  it('has a name of its own for each thing that happened to each object, and the same for the same', () => {
    const names = [
      made(),
      made({ identity: 'other' }),
      made({ reason: 'ConfigDrifted' }),
      made({ about: { kind: 'Node', name: 'n1', uid: 'v' } }),
    ].map(({ metadata }) => metadata.name);
    assert.equal(new Set(names).size, 4);
    assert.equal(made({ note: 'in other words' }, 'another').metadata.name, names[0]);
  });

  it('is about the object, by the kind that it has', () => {
    const { regarding, action } = made({ about: { kind: 'KubeletPool', name: 'web', uid: 'u' } });
    const apiVersion = 'kubelet-gitops.dev/v1alpha1';
    assert.deepEqual(
      [{ ...regarding, apiVersion }, action],
      [{ apiVersion, kind: 'KubeletPool', name: 'web', uid: 'u' }, 'RollOut'],
    );
    assert.deepEqual(made().regarding, { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'n1' });
  });
});
