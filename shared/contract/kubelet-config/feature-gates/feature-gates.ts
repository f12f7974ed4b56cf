import { type GateSpan, type GateSpec, parseHistory } from './gate-history.ts';
import { GATE_DEPENDENCIES, GATES } from './gates.generated.ts';

const HISTORIES: ReadonlyMap<string, string> = new Map(Object.entries(GATES));
const parsed = new Map<string, readonly GateSpan[]>();

/** Every gate that some kubelet from 1.20 on knows. */
export function gateNames(): readonly string[] {
  return [...HISTORIES.keys()];
}

/** When a gate was what; undefined where no kubelet from 1.20 on knows it. */
export function gateHistory(name: string): readonly GateSpan[] | undefined {
  const line = HISTORIES.get(name);
  if (line === undefined) return undefined;
  const known = parsed.get(name) ?? parseHistory(line);
  parsed.set(name, known);
  return known;
}

/** What a kubelet of this minor makes of a gate; undefined for an unknown gate, with which it refuses to start. */
export function gateSpec(name: string, minor: number): GateSpec | undefined {
  return gateHistory(name)?.findLast((span) => span.from <= minor)?.spec ?? undefined;
}

/** Gates that have to be on while this one is; older kubelets than 1.35 do not check it. */
export function gateDependencies(name: string, minor: number): readonly string[] {
  if (minor < 35) return [];
  return (GATE_DEPENDENCIES[name] ?? [])
    .map((line) => line.split(' '))
    .filter(([since, other]) => other === undefined || Number(since) <= minor)
    .flatMap((words) => words.at(-1) ?? [])
    .filter((other) => gateSpec(other, minor) !== undefined);
}
