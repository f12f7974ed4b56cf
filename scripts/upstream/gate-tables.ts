import { isDeepStrictEqual } from 'node:util';
import { gateDependencies, gateSpec } from '#shared/contract/kubelet-config/feature-gates/feature-gates.ts';
import { GATE_DEPENDENCIES, GATES } from '#shared/contract/kubelet-config/feature-gates/gates.generated.ts';
import type { GateSpec, GateStage } from '#shared/contract/kubelet-config/feature-gates/gate-history.ts';

/** What the kubelet's own code says of a gate, in the words of Kubernetes. */
export interface KubeletGate {
  readonly stage: string;
  readonly default: boolean;
  readonly locked: boolean;
  /** Gates that have to be on while this one is. */
  readonly needs?: readonly string[];
}

type Lines = Readonly<Record<string, readonly string[]>>;

const STAGES: Readonly<Record<string, GateStage>> = {
  ALPHA: 'alpha',
  BETA: 'beta',
  '': 'ga',
  DEPRECATED: 'deprecated',
};
/** From this minor on kubelets check what a gate needs; those that it had then are written without a minor. */
const FIRST_WITH_NEEDS = 35;

/** The text of gates.generated.ts once the tables say of a minor what its kubelet says. */
export function gateTables(minor: number, kubelet: Readonly<Record<string, KubeletGate>>): string {
  const names = [...new Set([...Object.keys(GATES), ...Object.keys(kubelet)])].toSorted();
  const linesOf = (of: (name: string) => readonly string[]): Lines =>
    Object.fromEntries(names.map((name) => [name, of(name)] as const).filter(([, parts]) => parts.length > 0));
  return textOf(
    linesOf((name) => lifeOf(name, minor, kubelet[name])),
    linesOf((name) => needsOf(name, minor, kubelet[name]?.needs ?? [])),
  );
}

/** Needs that went, as `Gate needs Other`: the tables cannot say it. */
export const goneNeeds = (minor: number, kubelet: Readonly<Record<string, KubeletGate>>): readonly string[] =>
  Object.entries(kubelet).flatMap(([name, { needs = [] }]) =>
    gateDependencies(name, minor)
      .filter((other) => !needs.includes(other))
      .map((other) => `${name} needs ${other}`),
  );

function lifeOf(name: string, minor: number, gate: KubeletGate | undefined): readonly string[] {
  const parts = GATES[name]?.split(', ') ?? [];
  const spec = gate && {
    stage: STAGES[gate.stage] ?? assertStage(gate.stage),
    default: gate.default,
    locked: gate.locked,
  };
  const earlier = parts.filter((part) => Number.parseInt(part, 10) < minor);
  const later = parts.filter((part) => Number.parseInt(part, 10) > minor);
  const isNews = !isDeepStrictEqual(earlier.length === 0 ? undefined : gateSpec(name, minor - 1), spec);
  return [...earlier, ...(isNews ? [`${minor} ${wordsOf(spec)}`] : []), ...later];
}

function assertStage(stage: string): never {
  throw new RangeError(
    `the kubelet calls a gate ${stage}, which is no stage of feature-gates/gate-history.ts: add it there`,
  );
}

function wordsOf(spec: GateSpec | undefined): string {
  if (spec === undefined) return 'gone';
  const usual = spec.stage === 'beta' || spec.stage === 'ga';
  const byDefault = spec.default === usual ? '' : spec.default ? ' on' : ' off';
  return `${spec.stage}${byDefault}${spec.locked ? ' locked' : ''}`;
}

function needsOf(name: string, minor: number, needs: readonly string[]): readonly string[] {
  const known = gateDependencies(name, minor);
  const news = needs.filter((other) => !known.includes(other)).toSorted();
  const since = minor === FIRST_WITH_NEEDS ? '' : `${minor} `;
  return [...(GATE_DEPENDENCIES[name] ?? []), ...news.map((other) => `${since}${other}`)];
}

const textOf = (lives: Lines, needs: Lines): string =>
  [
    '// Written by `npm run upstream -- MINOR --write` from the code of that kubelet. Do not edit.\n',
    record(
      'Feature gates that a kubelet knows or knew. `gate-history.ts` says how to read a line.',
      'GATES: Readonly<Record<string, string>>',
      Object.entries(lives).map(([name, parts]) => `${name}: '${parts.join(', ')}'`),
    ),
    record(
      'Gates that have to be on while one is. One that is younger than its gate begins with the minor that has it first: 37 is 1.37.',
      'GATE_DEPENDENCIES: Readonly<Record<string, readonly string[]>>',
      Object.entries(needs).map(([name, others]) => `${name}: [${others.map((other) => `'${other}'`).join(', ')}]`),
    ),
  ].join('\n');

const record = (about: string, declared: string, rows: readonly string[]): string =>
  `/** ${about} */\nexport const ${declared} = {\n${rows.map((row) => `  ${row},\n`).join('')}};\n`;
