import { abbreviateJson } from '../decode/abbreviate-json.ts';
import { countCpus } from '../syntax/cpu-set.ts';
import { parseWholePercentage } from '../syntax/percentage.ts';
import { parseQuantity, trimmedQuantity } from '../syntax/quantity.ts';
import type { ConfigView } from '../config-view.ts';
import { badQuantity, unknownValue } from './formats.ts';
import { at, type Complaint, type Rule } from './rule.ts';
import { mapOf } from '../../../runtime/maps.ts';

/** What `kubeReserved` and `systemReserved` can hold. */
export const RESERVABLE: readonly string[] = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

/** What is kept back from pods, and the cgroups that enforce it. */
export const RESERVATION_RULES: readonly Rule[] = [
  function* reservedResources(config) {
    for (const field of ['kubeReserved', 'systemReserved']) {
      for (const [resource, amount] of config.entries(field)) yield* judgeReserved(resource, amount, [field, resource]);
    }
  },
  function* qosReserved(config) {
    for (const [resource, share] of config.entries('qosReserved')) {
      const path = ['qosReserved', resource];
      if (resource !== 'memory') yield unknownValue(resource, ['memory'], path);
      else if (parseWholePercentage(share) === undefined) {
        const message = `"${share}" is not a whole percentage from 0% to 100%`;
        yield { code: 'bad-quantity', at: path, message, suggestion: 'write it as "50%"' };
      }
    }
  },
  function* enforcementNeedsCgroupsPerQos(config) {
    const enforced = config.texts('enforceNodeAllocatable').filter((item) => config.minor < 31 || item !== 'none');
    if (config.flag('cgroupsPerQOS') !== false || enforced.length === 0) return;
    yield {
      code: 'conflict',
      at: at(config.isSet('enforceNodeAllocatable') ? 'enforceNodeAllocatable' : 'cgroupsPerQOS'),
      message: 'enforceNodeAllocatable works only with cgroupsPerQOS: true',
      suggestion: config.minor < 31 ? 'set enforceNodeAllocatable: []' : 'set enforceNodeAllocatable: [none]',
      restsOn: ['cgroupsPerQOS', 'enforceNodeAllocatable'],
    };
  },
  function* enforcedItems(config) {
    const items = config.texts('enforceNodeAllocatable');
    for (const [index, item] of items.entries()) {
      const path = ['enforceNodeAllocatable', index];
      if (config.minor >= 31 && items.indexOf(item) !== index)
        yield { code: 'duplicate-item', at: path, message: `${item} is there twice` };
      if (item === 'none' && items.length > 1) {
        yield { code: 'conflict', at: path, message: 'none cannot stand beside other items' };
      }
      const whole = item.replace(/-compressible$/, '');
      if (whole !== item && items.includes(whole)) {
        yield { code: 'conflict', at: path, message: `${item} is part of ${whole}, and only one of them may be there` };
      }
    }
  },
  function* enforcementNeedsCgroup(config) {
    for (const [index, item] of config.texts('enforceNodeAllocatable').entries()) {
      const cgroup = CGROUP_OF[item.replace(/-compressible$/, '')];
      if (cgroup === undefined || (config.text(cgroup) ?? '') !== '') continue;
      const message = `enforcing ${item} needs ${cgroup}`;
      const suggestion = `set ${cgroup} to a cgroup that exists on the nodes`;
      yield { code: 'missing-partner', at: ['enforceNodeAllocatable', index], message, suggestion, restsOn: [cgroup] };
    }
  },
  function* systemCgroupsNeedRoot(config) {
    if ((config.text('systemCgroups') ?? '') === '' || (config.text('cgroupRoot') ?? '') !== '') return;
    const message = 'systemCgroups needs cgroupRoot';
    yield {
      code: 'missing-partner',
      at: at('systemCgroups'),
      message,
      suggestion: 'set cgroupRoot: /',
      restsOn: ['cgroupRoot'],
    };
  },
  function* reservedCpus(config) {
    const cpus = config.text('reservedSystemCPUs') ?? '';
    if (countCpus(cpus, config.minor < 22) === undefined) {
      const message = `"${cpus}" is not a list of CPUs`;
      const bare = cpus.replaceAll(/\s/g, '');
      yield {
        code: 'bad-cpu-list',
        at: at('reservedSystemCPUs'),
        message,
        suggestion: countCpus(bare) === undefined ? 'write it as "0-3,7"' : `write "${bare}"`,
      };
    }
    for (const cgroup of ['systemReservedCgroup', 'kubeReservedCgroup']) {
      if (cpus === '' || (config.text(cgroup) ?? '') === '') continue;
      const message = `reservedSystemCPUs cannot be combined with ${cgroup}`;
      yield { code: 'conflict', at: at('reservedSystemCPUs'), message, restsOn: ['reservedSystemCPUs', cgroup] };
    }
  },
  function* reservedMemory(config) {
    const seen = new Set<string>();
    for (const [index, item] of config.structs('reservedMemory').entries()) {
      yield* judgeReservedMemory(item, index, seen);
    }
  },
];

const CGROUP_OF: Readonly<Record<string, string>> = {
  'system-reserved': 'systemReservedCgroup',
  'kube-reserved': 'kubeReservedCgroup',
};

function* judgeReserved(resource: string, amount: string, path: readonly string[]): Generator<Complaint> {
  if (!RESERVABLE.includes(resource)) yield unknownValue(resource, RESERVABLE, path);
  const size = parseQuantity(amount);
  if (size === undefined) yield badQuantity(amount, path);
  else if (size < 0) yield { code: 'out-of-range', at: path, message: 'a reservation cannot be negative' };
}

function* judgeReservedMemory(
  item: Readonly<Record<string, unknown>>,
  index: number,
  seen: Set<string>,
): Generator<Complaint> {
  const numaNode = abbreviateJson(item['numaNode'] ?? 0);
  const limits = mapOf(item['limits']);
  for (const [resource, amount] of Object.entries(limits)) {
    const path = ['reservedMemory', index, 'limits', resource];
    if (resource !== 'memory' && !resource.startsWith('hugepages-'))
      yield unknownValue(resource, ['memory', 'hugepages-2Mi', 'hugepages-1Gi'], path);
    if (sizeOf(amount) === 0)
      yield { code: 'out-of-range', at: path, message: 'reserving nothing is refused', suggestion: 'leave it out' };
    const place = `${numaNode} ${resource}`;
    if (seen.has(place)) {
      const message = `${resource} of NUMA node ${numaNode} is there twice`;
      yield { code: 'duplicate-item', at: path, message };
    }
    seen.add(place);
  }
}

/** null counts as nothing; undefined for what has no size. */
function sizeOf(amount: unknown): number | undefined {
  if (typeof amount === 'string') return parseQuantity(trimmedQuantity(amount));
  return amount === null || typeof amount === 'number' || typeof amount === 'bigint' ? Number(amount) : undefined;
}

/** Whether the config keeps CPUs back by any of the three ways. */
export function reservesCpu(config: ConfigView): boolean {
  const inMap = (field: string): boolean =>
    config.entries(field).some(([resource, amount]) => resource === 'cpu' && (parseQuantity(amount) ?? 0) > 0);
  return (config.text('reservedSystemCPUs') ?? '') !== '' || inMap('kubeReserved') || inMap('systemReserved');
}
