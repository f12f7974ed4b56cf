import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import { unitOf } from '../../decide/cgroup-limits.ts';
import { type Check, refuse, warn } from '../preflight-check.ts';
import type { ConfigForHost } from '../host-facts.ts';

/** The fields that name cgroups which have to be there. */
type CgroupField = 'systemReservedCgroup' | 'kubeReservedCgroup' | 'cgroupRoot';

/** Which cgroups have to be there: the kubelet does not start without them (`enforceNodeAllocatableCgroups`). */
export function neededCgroups({ view }: Pick<ConfigForHost, 'view'>): readonly (readonly [CgroupField, string])[] {
  const enforced = view.texts('enforceNodeAllocatable').join(' ');
  const named = (field: CgroupField): readonly (readonly [CgroupField, string])[] => {
    const name = view.text(field) ?? '';
    return name === '' ? [] : [[field, name]];
  };
  const root = view.text('cgroupRoot') ?? '';
  return [
    ...(/\bsystem-reserved/.test(enforced) ? named('systemReservedCgroup') : []),
    ...(/\bkube-reserved/.test(enforced) ? named('kubeReservedCgroup') : []),
    ...(root === '/' || view.flag('cgroupsPerQOS') === false ? [] : named('cgroupRoot')),
  ];
}

/**
 * The directory of a cgroup, from the root of its hierarchy (kubelet 1.20 to 1.36, cgroup_manager_linux.go). Under
 * systemd a reserved cgroup is the name of a slice, of which only the last part counts, and dashes are levels:
 * `/a/foo-bar.slice` is `foo.slice/foo-bar.slice`. `cgroupRoot` is a path whatever the driver is, and its parts become
 * levels: `/a/foo-bar` is `a.slice/a-foo_bar.slice`.
 */
export function cgroupPath(field: CgroupField, name: string, driver: string): string {
  if (driver !== 'systemd') return name;
  const parts = field === 'cgroupRoot' ? partsOfPath(name) : partsOfSlice(name);
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('-')}.slice`).join('/');
}

/** A dash in a part would be a level of its own, so the kubelet writes another character for it. */
const partsOfPath = (path: string): readonly string[] =>
  path
    .replace(/^\//, '')
    .split('/')
    .map((part) => part.replaceAll('-', '_'));

function partsOfSlice(name: string): readonly string[] {
  const last = name.split('/').findLast((part) => part !== '') ?? '';
  return last.replace(/\.slice$/, '').split('-');
}

export const cgroupsExist: Check = (candidate, { cgroups, cgroupGaps }) =>
  neededCgroups(candidate).flatMap(([field, name]) => {
    const gaps = cgroups.get(field) === false ? undefined : (cgroupGaps?.get(field) ?? []);
    if (gaps?.length === 0) return [];
    const what =
      gaps === undefined ? `there is no cgroup ${name}` : `the cgroup ${name} lacks the controllers ${gaps.join(', ')}`;
    const message = `${what} on this node, and the kubelet does not start without`;
    return [refuse('cgroup-missing', field, message, 'make it first, by a systemd slice for example')];
  });

/**
 * The kubelet makes what is reserved the limit of the cgroup (`enforceNodeAllocatableCgroups`). Below what is used now, the
 * kernel kills, or the kubelet itself starves in its own slice. The words with `-compressible` limit no memory.
 */
export const cgroupLimits: Check = ({ view }, { cgroupUse }) =>
  LIMITS.flatMap(({ word, field, reserved }) => {
    const use = view.texts('enforceNodeAllocatable').includes(word) ? cgroupUse.get(field) : undefined;
    if (use === undefined || (view.text(field) ?? '') === '') return [];
    const given = new Map(view.entries(reserved));
    return (['memory', 'pid'] as const).flatMap((resource) => {
      const used = resource === 'memory' ? use.bytes : use.pids;
      const limit = parseQuantity(given.get(resource) ?? '');
      if (used === undefined || limit === undefined || limit <= 0 || used <= limit) return [];
      const show = (amount: number): string =>
        resource === 'memory' ? `${Math.ceil(amount / 2 ** 20)}Mi` : `${amount}`;
      const message = `${reserved}.${resource} of ${show(limit)} becomes the limit of ${view.text(field)}, which uses ${show(used)} now`;
      return [
        refuse('cgroup-too-small', reserved, message, 'reserve more, or take its word out of enforceNodeAllocatable'),
      ];
    });
  });

/** A fallback from such a config cannot remove the limit from the host. */
export const cgroupLimitsPersist: Check = ({ view }, { cgroups }) =>
  LIMITS.flatMap(({ word, field, reserved }) => {
    const name = view.text(field) ?? '';
    if (name === '' || cgroups.get(field) === false || !view.texts('enforceNodeAllocatable').includes(word)) return [];
    const pages = view
      .entries(reserved)
      .map(([resource]) => resource)
      .filter((resource) => resource.startsWith('hugepages-'));
    const isUnit = unitOf(name, view.text('cgroupDriver')) !== undefined;
    if (isUnit && pages.length === 0) return [];
    const which = isUnit ? `its limits of ${pages.join(', ')}` : 'its limits';
    const message = `${name} keeps ${which} after this config is taken back, until somebody lifts them or the machine boots`;
    return [warn('limit-stays', field, message, isUnit ? 'reserve no hugepages there' : 'name a unit of systemd')];
  });

const LIMITS = [
  { word: 'system-reserved', field: 'systemReservedCgroup', reserved: 'systemReserved' },
  { word: 'kube-reserved', field: 'kubeReservedCgroup', reserved: 'kubeReserved' },
] as const;

/**
 * What a kubelet does not do on a host of the first version: start with `failCgroupV1` (the default from 1.35 on), limit swap (`run` of
 * cmd/kubelet/app/server.go, from 1.30 on), or end a single process of a container (its validation, from 1.32 on).
 */
export const cgroupVersion: Check = ({ view }, facts) =>
  facts.cgroupVersion === 1
    ? V1_LACKS.filter(({ asks }) => asks(view)).map(({ field, advice }) =>
        refuse(
          'cgroup-v1',
          field,
          'this node has cgroups of version 1, and the kubelet does not start on it',
          `${advice}, or move the node to version 2`,
        ),
      )
    : [];

const V1_LACKS: readonly {
  readonly field: string;
  readonly asks: (view: ConfigForHost['view']) => boolean;
  readonly advice: string;
}[] = [
  {
    field: 'failCgroupV1',
    asks: (view) => view.flag('failCgroupV1') === true,
    advice: 'set failCgroupV1: false',
  },
  {
    field: 'memorySwap.swapBehavior',
    asks: (view) => view.minor >= 30 && view.gate('NodeSwap') && view.text('memorySwap.swapBehavior') === 'LimitedSwap',
    advice: 'set memorySwap.swapBehavior: NoSwap',
  },
  {
    field: 'singleProcessOOMKill',
    asks: (view) => view.isSet('singleProcessOOMKill') && view.flag('singleProcessOOMKill') === false,
    advice: 'leave singleProcessOOMKill out',
  },
];

/**
 * A runtime and a kubelet that disagree fail to make any pod. From 1.31 on (gate KubeletCgroupDriverFromCRI) the kubelet
 * asks the runtime, where that can answer, so it is only said.
 */
export const cgroupDriver: Check = ({ view }, { runtimeDriver }) => {
  const driver = view.text('cgroupDriver') ?? 'cgroupfs';
  if (runtimeDriver === undefined || runtimeDriver.driver === driver) return [];
  const { driver: other, file } = runtimeDriver;
  const message = `the kubelet would use ${driver}, and the container runtime uses ${other} (${file}): no pod could be made`;
  const say = view.gate('KubeletCgroupDriverFromCRI') ? warn : refuse;
  return [say('cgroup-driver', 'cgroupDriver', message, `set cgroupDriver: ${other}`)];
};
