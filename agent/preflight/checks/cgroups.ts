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

export const cgroupsExist: Check = (candidate, { cgroups }) =>
  neededCgroups(candidate)
    .filter(([field]) => cgroups.get(field) === false)
    .map(([field, name]) =>
      refuse(
        'cgroup-missing',
        field,
        `there is no cgroup ${name} on this node, and the kubelet does not start without it`,
        'make it first, by a systemd slice for example',
      ),
    );

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

/** A kubelet with `failCgroupV1` (the default from 1.35 on) does not start on a host of the first version. */
export const cgroupVersion: Check = ({ view }, facts) =>
  facts.cgroupVersion === 1 && view.flag('failCgroupV1') === true
    ? [
        refuse(
          'cgroup-v1',
          'failCgroupV1',
          'this node has cgroups of version 1, and the kubelet does not start on it',
          'set failCgroupV1: false, or move the node to version 2',
        ),
      ]
    : [];

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
