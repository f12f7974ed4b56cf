import type { ConfigView } from '../view.ts';
import { unknownValue } from './formats.ts';
import { reservesCpu } from './reservations.ts';
import { at, type Complaint, needsGate, type Rule } from './rule.ts';

interface PolicyOption {
  readonly name: string;
  readonly takes: 'bool' | 'number';
  /** First minor that has it, and those with which it became beta and stable. */
  readonly since: number;
  readonly beta?: number;
  readonly stable?: number;
}

const CPU_OPTIONS: readonly PolicyOption[] = [
  { name: 'full-pcpus-only', takes: 'bool', since: 22, beta: 22, stable: 33 },
  { name: 'distribute-cpus-across-numa', takes: 'bool', since: 23, beta: 33 },
  { name: 'align-by-socket', takes: 'bool', since: 25 },
  { name: 'distribute-cpus-across-cores', takes: 'bool', since: 31 },
  { name: 'strict-cpu-reservation', takes: 'bool', since: 32, beta: 33, stable: 35 },
  { name: 'prefer-align-cpus-by-uncorecache', takes: 'bool', since: 32, beta: 34 },
];

const TOPOLOGY_OPTIONS: readonly PolicyOption[] = [
  { name: 'prefer-closest-numa-nodes', takes: 'bool', since: 26, beta: 28, stable: 32 },
  { name: 'max-allowable-numa-nodes', takes: 'number', since: 31, beta: 33, stable: 35 },
];

/** The CPU, memory and topology managers. What depends on the node's CPUs and memory is not judged here. */
export const MANAGER_RULES: readonly Rule[] = [
  function* cpuPolicyOptions(config) {
    const options = config.entries('cpuManagerPolicyOptions');
    if (options.length === 0) return;
    if (config.text('cpuManagerPolicy') !== 'static') {
      const message = 'cpuManagerPolicyOptions are refused unless cpuManagerPolicy is static';
      yield {
        code: 'conflict',
        at: at('cpuManagerPolicyOptions'),
        message,
        suggestion: 'set cpuManagerPolicy: static',
        restsOn: ['cpuManagerPolicy'],
      };
      return;
    }
    if (!config.gate('CPUManagerPolicyOptions') && config.minor < 33)
      yield needsGate('cpuManagerPolicyOptions', 'CPUManagerPolicyOptions');
    yield* judgeOptions(options, CPU_OPTIONS, 'cpuManagerPolicyOptions', 'CPUManagerPolicy', config);
  },
  function* staticCpuPolicyNeedsReservation(config) {
    if (config.text('cpuManagerPolicy') !== 'static' || reservesCpu(config)) return;
    yield {
      code: 'missing-partner',
      // Whether the kubelet starts depends on the node as well: flags can reserve CPUs too.
      severity: 'warning',
      at: at('cpuManagerPolicy'),
      message: 'the static CPU manager needs CPUs that are kept back from pods, and the kubelet does not start without',
      suggestion: 'set reservedSystemCPUs, or cpu in kubeReserved or systemReserved',
    };
  },
  function* topologyPolicyNeedsGate(config) {
    if (config.minor > 26 || config.gate('TopologyManager')) return;
    for (const [field, usual] of [
      ['topologyManagerPolicy', 'none'],
      ['topologyManagerScope', 'container'],
    ] as const) {
      if (config.text(field) !== usual) yield needsGate(field, 'TopologyManager', `${field} other than ${usual}`);
    }
  },
  function* topologyPolicyOptions(config) {
    const options = config.entries('topologyManagerPolicyOptions');
    if (options.length === 0) return;
    if (config.minor < 32 && !config.gate('TopologyManagerPolicyOptions')) {
      yield needsGate('topologyManagerPolicyOptions', 'TopologyManagerPolicyOptions');
    }
    yield* judgeOptions(options, TOPOLOGY_OPTIONS, 'topologyManagerPolicyOptions', 'TopologyManagerPolicy', config);
  },
];

function* judgeOptions(
  options: readonly (readonly [string, string])[],
  table: readonly PolicyOption[],
  field: string,
  gates: string,
  config: ConfigView,
): Generator<Complaint> {
  const known = table.filter((option) => option.since <= config.minor);
  for (const [name, value] of options) {
    const path = [field, name];
    const option = known.find((candidate) => candidate.name === name);
    if (option === undefined) {
      yield unknownValue(
        name,
        known.map((candidate) => candidate.name),
        path,
      );
      continue;
    }
    const gate = `${gates}${config.minor >= (option.beta ?? Infinity) ? 'Beta' : 'Alpha'}Options`;
    if (config.minor < (option.stable ?? Infinity) && !config.gate(gate)) {
      yield { ...needsGate(field, gate, `the option ${name}`), at: path };
    }
    const pattern = option.takes === 'bool' ? /^(?:1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$/ : /^[-+]?\d+$/;
    if (!pattern.test(value)) {
      const wanted = option.takes === 'bool' ? '"true" or "false"' : 'a number in quotes';
      yield { code: 'unknown-value', at: path, message: `the option ${name} takes ${wanted}, not "${value}"` };
    }
  }
}
