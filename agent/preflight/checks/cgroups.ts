import { type Check, refuse, warn } from '../check.ts';
import type { Candidate } from '../host-facts.ts';

/** Which cgroups have to be there: the kubelet does not start without them (`enforceNodeAllocatableCgroups`). */
export function neededCgroups({ view }: Pick<Candidate, 'view'>): readonly (readonly [field: string, name: string])[] {
  const enforced = view.texts('enforceNodeAllocatable').join(' ');
  const named = (field: string): readonly (readonly [string, string])[] => {
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
 * The directory of a cgroup, from the root of its hierarchy. Under systemd only the last part of the name counts, and
 * dashes are levels: `/a/foo-bar.slice` is `foo.slice/foo-bar.slice` (kubelet, cgroup_manager_linux.go).
 */
export function cgroupPath(name: string, driver: string): string {
  if (driver !== 'systemd') return name;
  const last = name.split('/').findLast((part) => part !== '') ?? '';
  const parts = last.replace(/\.slice$/, '').split('-');
  return parts.map((_, index) => `${parts.slice(0, index + 1).join('-')}.slice`).join('/');
}

export const cgroupsExist: Check = (candidate, { cgroups }) =>
  neededCgroups(candidate)
    .filter(([, name]) => cgroups.get(name) === false)
    .map(([field, name]) =>
      refuse(
        'cgroup-missing',
        field,
        `there is no cgroup ${name} on this node, and the kubelet does not start without it`,
        'make it first, by a systemd slice for example',
      ),
    );

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
