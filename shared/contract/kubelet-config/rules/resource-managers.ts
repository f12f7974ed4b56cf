import type { ConfigView } from '../config-view.ts';
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
  /** Smallest number that it takes. */
  readonly min?: number;
}

const CPU_OPTIONS: readonly PolicyOption[] = [
  { name: 'full-pcpus-only', takes: 'bool', since: 22, beta: 22, stable: 33 },
  { name: 'distribute-cpus-across-numa', takes: 'bool', since: 23, beta: 33 },
  { name: 'align-by-socket', takes: 'bool', since: 25 },
  { name: 'distribute-cpus-across-cores', takes: 'bool', since: 31 },
  { name: 'strict-cpu-reservation', takes: 'bool', since: 32, beta: 33, stable: 35 },
  { name: 'prefer-align-cpus-by-uncorecache', takes: 'bool', since: 32, beta: 34, stable: 37 },
];

const TOPOLOGY_OPTIONS: readonly PolicyOption[] = [
  { name: 'prefer-closest-numa-nodes', takes: 'bool', since: 26, beta: 28, stable: 32 },
  { name: 'max-allowable-numa-nodes', takes: 'number', since: 31, beta: 33, stable: 35, min: 8 },
];

const namesAt = (table: readonly PolicyOption[], minor: number): readonly string[] =>
  table.filter(({ since }) => since <= minor).map(({ name }) => name);

/** The options of the static CPU policy that kubelets of this minor know. */
export const cpuOptionsAt = (minor: number): readonly string[] => namesAt(CPU_OPTIONS, minor);

/** The options of the topology policies that kubelets of this minor know. */
export const topologyOptionsAt = (minor: number): readonly string[] => namesAt(TOPOLOGY_OPTIONS, minor);

/** Options of the static CPU policy that cannot both be true. */
const RIVAL_CPU_OPTIONS = [
  ['distribute-cpus-across-cores', 'full-pcpus-only'],
  ['distribute-cpus-across-cores', 'distribute-cpus-across-numa'],
  ['distribute-cpus-across-cores', 'prefer-align-cpus-by-uncorecache'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'],
] as const;

const TRUE = /^(?:1|t|T|TRUE|true|True)$/;
const FALSE = /^(?:0|f|F|FALSE|false|False)$/;

/** The CPU, memory and topology managers. What depends on the node's CPUs and memory is not judged here. */
export const MANAGER_RULES: readonly Rule[] = [
  function* cpuPolicyOptions(config) {
    const options = config.entries('cpuManagerPolicyOptions');
    if (options.length === 0) return;
    const policy = config.text('cpuManagerPolicy');
    if (policy === 'none') {
      const message = 'cpuManagerPolicyOptions are refused unless cpuManagerPolicy is static';
      yield {
        code: 'conflict',
        at: at('cpuManagerPolicyOptions'),
        message,
        suggestion: 'set cpuManagerPolicy: static',
        restsOn: ['cpuManagerPolicy'],
      };
    }
    // Another policy is a fault of its own.
    if (policy !== 'static') return;
    if (!config.gate('CPUManagerPolicyOptions') && config.minor < 33)
      yield needsGate('cpuManagerPolicyOptions', 'CPUManagerPolicyOptions');
    yield* judgeOptions(options, CPU_OPTIONS, 'cpuManagerPolicyOptions', 'CPUManagerPolicy', config);
    yield* judgeRivals(new Set(options.filter(([, value]) => TRUE.test(value)).map(([name]) => name)), config);
  },
  function* staticCpuPolicyNeedsReservation(config) {
    if (config.text('cpuManagerPolicy') !== 'static' || reservesCpu(config)) return;
    yield {
      code: 'no-reserved-cpu',
      // Under an overlay it is the node's own config that reserves. Flags can, too: who has them writes the same here.
      severity: config.apply === 'replace' ? 'error' : 'warning',
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
    // Without the gate even an empty map is too much, where the manager itself is on.
    const isManaged = config.minor > 26 || config.gate('TopologyManager');
    const needs = isManaged && config.minor < 32 && !config.gate('TopologyManagerPolicyOptions');
    if (needs && config.isSet('topologyManagerPolicyOptions')) {
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
    if (takes(option, value)) continue;
    const number = option.min === undefined ? 'a number in quotes' : `a number from "${option.min}" on`;
    const wanted = option.takes === 'bool' ? '"true" or "false"' : number;
    yield { code: 'unknown-value', at: path, message: `the option ${name} takes ${wanted}, not "${value}"` };
  }
}

function takes(option: PolicyOption, value: string): boolean {
  if (option.takes === 'bool') return TRUE.test(value) || FALSE.test(value);
  return /^[-+]?\d+$/.test(value) && Number(value) >= (option.min ?? -Infinity) && Number(value) < 2 ** 63;
}

function* judgeRivals(on: ReadonlySet<string>, config: ConfigView): Generator<Complaint> {
  const field = 'cpuManagerPolicyOptions';
  for (const [name, rival] of RIVAL_CPU_OPTIONS) {
    if (!on.has(name) || !on.has(rival)) continue;
    yield { code: 'conflict', at: [field, name], message: `the option ${name} cannot be combined with ${rival}` };
  }
  if (!on.has('align-by-socket') || config.text('topologyManagerPolicy') !== 'single-numa-node') return;
  const message = 'the option align-by-socket cannot be combined with topologyManagerPolicy: single-numa-node';
  yield { code: 'conflict', at: [field, 'align-by-socket'], message, restsOn: ['topologyManagerPolicy'] };
}
