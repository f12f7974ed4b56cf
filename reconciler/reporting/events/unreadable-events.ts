import { reasonOf } from '#shared/runtime/errors.ts';
import type { UnreadableObject } from '../../policy/fleet.ts';
import type { ClusterEvent } from './cluster-event.ts';

/**
 * That an object cannot be read, on itself. Pure.
 *
 * @param at when it was seen, RFC 3339
 */
export function eventsOfUnreadable({ of, name, uid, error }: UnreadableObject, at: string): readonly ClusterEvent[] {
  // An Event is about an object with a uid, and people do not run `kubectl describe` on our ConfigMaps.
  if (of === 'config-source' || uid === '') return [];
  const why = reasonOf(error);
  return [
    {
      about: { kind: of === 'node' ? 'Node' : 'KubeletPool', name, uid },
      reason: 'CannotBeRead',
      type: 'Warning',
      note: `Nothing is decided about this ${of} because it cannot be read: ${why}`,
      pool: of === 'pool' ? name : '',
      config: '',
      at,
      identity: `unreadable ${why}`,
    },
  ];
}
