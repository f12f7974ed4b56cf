import { type Check, refuse } from '../preflight-check.ts';
import type { ConfigForHost, SubordinateIds } from '../host-facts.ts';

const FIELD = 'userNamespaces.idsPerPod';
const USUAL = 65_536;

/** Before 1.35 the kubelet makes its manager of user ids before it has its config (`MakeUserNsManager`). */
const readsField = ({ minor }: ConfigForHost['view']): boolean => minor >= 35;

const idsPerPod = (view: ConfigForHost['view']): number => (readsField(view) ? view.number(FIELD) : undefined) ?? USUAL;

/** Whether the kubelet gives pods user ids at all. */
export const givesUserIds = (view: ConfigForHost['view']): boolean =>
  view.minor >= 30 && view.gate('UserNamespacesSupport');

/** The kubelet shares out the ids of its user, or all but the first share; they have to do for `maxPods` pods, and leave no rest. */
export const userIdsSuffice: Check = ({ view }, { subordinateIds }) => {
  const pods = view.number('maxPods') ?? 0;
  const ids = idsPerPod(view);
  if (subordinateIds === undefined || !givesUserIds(view) || ids < USUAL) return [];
  const { first, length }: SubordinateIds =
    subordinateIds === 'none' ? { first: ids, length: 2 ** 32 - ids } : subordinateIds;
  const field = readsField(view) && view.isSet(FIELD) ? FIELD : 'maxPods';
  const whose = subordinateIds === 'none' ? 'the ids of this node' : `the ids ${first}+${length} of the user kubelet`;
  const wrong =
    first < ids || first % ids !== 0 || length % ids !== 0
      ? `${whose} do not begin and end at multiples of ${ids}`
      : Math.floor(length / ids) < pods
        ? `${whose} are enough for ${Math.floor(length / ids)} pods with ${ids} each, and maxPods is ${pods}`
        : undefined;
  if (wrong === undefined) return [];
  const advice =
    subordinateIds === 'none'
      ? 'lower idsPerPod or maxPods'
      : 'change its range in /etc/subuid and /etc/subgid, or the config';
  return [refuse('too-few-user-ids', field, `${wrong}: the kubelet does not start`, advice)];
};

/** At its start the kubelet takes up the ids of pods that have a directory, and ends where one has as many as pods no longer get. */
export const podsKeepUserIds: Check = ({ view }, { idsOfPods = [] }) => {
  const ids = idsPerPod(view);
  const others = readsField(view) && givesUserIds(view) ? idsOfPods.filter((length) => length !== ids) : [];
  if (others.length === 0) return [];
  const message = `${others.length} pods with a directory on this node have ${[...new Set(others)].join(', ')} user ids each, and the kubelet does not start with another number`;
  const advice = 'end these pods first, those of DaemonSets and static ones too, or reboot the node without them';
  return [refuse('pods-keep-user-ids', FIELD, message, advice)];
};
