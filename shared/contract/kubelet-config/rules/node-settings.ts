import { SECOND_NS } from '../syntax/go-duration.ts';
import { isLabelValue, isQualifiedName } from '../syntax/names.ts';
import type { ConfigView } from '../config-view.ts';
import { allOf, at, type Complaint, needsGate, type Rule } from './rule.ts';

/** Shutdown, taints, swap, memory and the like: what the kubelet's own validation asks beyond the table. */
export const NODE_RULES: readonly Rule[] = [
  function* shutdownPeriods(config) {
    const total = periodOf('shutdownGracePeriod', config);
    const critical = periodOf('shutdownGracePeriodCriticalPods', config);
    if (!config.gate('GracefulNodeShutdown')) {
      if (total > 0) yield needsGate('shutdownGracePeriod', 'GracefulNodeShutdown');
      if (critical > 0) yield needsGate('shutdownGracePeriodCriticalPods', 'GracefulNodeShutdown');
      return;
    }
    yield* shutdownPeriod('shutdownGracePeriod', total);
    yield* shutdownPeriod('shutdownGracePeriodCriticalPods', critical);
    if (!(critical > total)) return;
    const message = 'shutdownGracePeriodCriticalPods is part of shutdownGracePeriod and cannot be longer';
    const restsOn = ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'];
    yield { code: 'conflict', at: at('shutdownGracePeriodCriticalPods'), message, restsOn };
  },
  function* shutdownByPriority(config) {
    const field = 'shutdownGracePeriodByPodPriority';
    if (config.structs(field).length === 0) return;
    const gate = 'GracefulNodeShutdownBasedOnPodPriority';
    if (!config.gate(gate)) yield needsGate(field, gate);
    if (!config.gate('GracefulNodeShutdown')) return;
    const others = ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'].filter(
      (other) => periodOf(other, config) > 0,
    );
    if (others.length === 0) return;
    const message = `${field} cannot be combined with ${allOf(others)}`;
    yield { code: 'conflict', at: at(field), message, restsOn: [field, ...others] };
  },
  function* taints(config) {
    for (const [index, taint] of config.structs('registerWithTaints').entries()) yield* judgeTaint(taint, index);
  },
  function* swap(config) {
    const behaviour = config.text('memorySwap.swapBehavior') ?? '';
    if (behaviour !== '' && !config.gate('NodeSwap')) yield needsGate('memorySwap.swapBehavior', 'NodeSwap');
  },
  function* memoryQos(config) {
    const factor = config.number('memoryThrottlingFactor');
    if (factor !== undefined && (factor <= 0 || factor > 1)) {
      const message = `${factor} is not above 0 and up to 1`;
      yield { code: 'out-of-range', at: at('memoryThrottlingFactor'), message };
    }
    // 0.9, the default until 1.36, may stay in a file (previousDefaultMemoryThrottlingFactor, 1.37).
    if (config.minor >= 37 && factor !== undefined && factor !== 0.9 && !config.gate('MemoryQoS')) {
      yield needsGate('memoryThrottlingFactor', 'MemoryQoS');
    }
    if (config.text('memoryReservationPolicy') === 'TieredReservation' && !config.gate('MemoryQoS')) {
      yield needsGate('memoryReservationPolicy', 'MemoryQoS', 'TieredReservation');
    }
  },
  function* cpuQuotaPeriod(config) {
    const period = config.duration('cpuCFSQuotaPeriod');
    if (period === undefined) return;
    const shortest = config.minor < 26 ? 1e3 : 1e6;
    if (!config.gate('CustomCPUCFSQuotaPeriod')) {
      if (period !== 100e6)
        yield needsGate('cpuCFSQuotaPeriod', 'CustomCPUCFSQuotaPeriod', 'a period other than 100ms');
    } else if (period < shortest || period > SECOND_NS) {
      const message = `the period has to be from ${config.minor < 26 ? '1us' : '1ms'} to 1s`;
      yield { code: 'out-of-range', at: at('cpuCFSQuotaPeriod'), message };
    }
  },
  function* crashLoopBackOff(config) {
    const period = config.duration('crashLoopBackOff.maxContainerRestartPeriod');
    const field = 'crashLoopBackOff.maxContainerRestartPeriod';
    if (period === undefined) return;
    if (!config.gate('KubeletCrashLoopBackOffMax')) yield needsGate(field, 'KubeletCrashLoopBackOffMax');
    // Whole milliseconds are compared: 300.0009s passes.
    else if (period < SECOND_NS || Math.trunc(period / 1e6) > 300_000) {
      yield { code: 'out-of-range', at: at(field), message: 'the period has to be from 1s to 300s' };
    }
  },
  function* userNamespaces(config) {
    const ids = config.number('userNamespaces.idsPerPod');
    if (ids === undefined || (ids >= 65_536 && ids % 65_536 === 0 && ids <= 2 ** 32 - 1)) return;
    const message = `${ids} is not a multiple of 65536 below 4294967296`;
    yield { code: 'out-of-range', at: at('userNamespaces.idsPerPod'), message };
  },
  function* iptablesBits(config) {
    const drop = config.number('iptablesDropBit');
    if (config.minor >= 28 || drop !== config.number('iptablesMasqueradeBit')) return;
    if (config.flag('makeIPTablesUtilChains') === false) return;
    const message = 'iptablesDropBit and iptablesMasqueradeBit cannot be the same';
    const restsOn = ['iptablesDropBit', 'iptablesMasqueradeBit'];
    yield { code: 'conflict', at: at('iptablesDropBit'), message, restsOn };
  },
  function* syncFrequency(config) {
    if ((config.duration('syncFrequency') ?? 1) > 0) return;
    yield { code: 'out-of-range', at: at('syncFrequency'), message: 'syncFrequency cannot be negative' };
  },
  function* runOnce(config) {
    if (config.minor < 32 || config.flag('runOnce') !== true) return;
    const message = 'kubelets from 1.32 on do not start with runOnce: true';
    yield { code: 'unknown-value', at: at('runOnce'), message, suggestion: 'take it out' };
  },
];

/** NaN where something is set that is not a valid duration, which is a fault of its own. */
const periodOf = (field: string, config: ConfigView): number =>
  config.duration(field) ?? (config.isSet(field) ? Number.NaN : 0);

function* shutdownPeriod(field: string, period: number): Generator<Complaint> {
  if (period === 0 || !(period < SECOND_NS)) return;
  yield { code: 'out-of-range', at: at(field), message: `${field} has to be 0s or at least 1s` };
}

function* judgeTaint(taint: ReturnType<ConfigView['structs']>[number], index: number): Generator<Complaint> {
  const path = (field: string) => ['registerWithTaints', index, field];
  const key = taint['key'] ?? '';
  const value = taint['value'] ?? '';
  if (typeof key === 'string' && !isQualifiedName(key)) {
    const message = `"${key}" is not a valid taint key`;
    yield { code: 'bad-taint', at: path('key'), message, suggestion: 'write name or example.com/name' };
  }
  if (typeof value === 'string' && !isLabelValue(value)) {
    yield { code: 'bad-taint', at: path('value'), message: `"${value}" is not a valid taint value` };
  }
  if ((taint['timeAdded'] ?? null) !== null) {
    yield {
      code: 'bad-taint',
      at: path('timeAdded'),
      message: 'timeAdded is the cluster’s to set',
      suggestion: 'take it out',
    };
  }
}
