import { EVENTS as NEWER_EVENTS, namespaced } from '#shared/kube/kube.ts';
import type { ResourceView } from '#sandbox/api-server/store/resource-view.ts';

/** Events as the first API group has them; kubectl reads these. */
export const EVENTS = namespaced('v1', 'Event');

/** What is called otherwise in `events.k8s.io/v1` (kubernetes/pkg/apis/events/v1/conversion.go). */
const NEWER_NAMES = {
  involvedObject: 'regarding',
  message: 'note',
  reportingComponent: 'reportingController',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
} as const;
const NEWER = new Map<string, string>(Object.entries(NEWER_NAMES));
const OLDER = new Map([...NEWER].map(([older, newer]) => [newer, older]));

/** An Event is one and the same by both groups, as on a real server: what one writes the other reads. */
export const EVENT_VIEW: ResourceView = {
  resource: NEWER_EVENTS,
  keptAs: EVENTS,
  shown: (event) => ({ ...renamed(event, NEWER), apiVersion: 'events.k8s.io/v1' }),
  kept: (event) => ({ ...renamed(event, OLDER), apiVersion: 'v1' }),
};

const renamed = <T extends object>(event: T, names: ReadonlyMap<string, string>): T =>
  Object.fromEntries(Object.entries(event).map(([key, value]) => [names.get(key) ?? key, value])) as T;
