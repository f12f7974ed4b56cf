import { gateDependencies, gateHistory, gateNames, gateSpec } from '../feature-gates/feature-gates.ts';
import { GATE_DEPENDENCIES } from '../feature-gates/gates.generated.ts';
import { minorName, NEWEST_MINOR } from '../minor.ts';
import { didYouMean, sameButCase } from '../syntax/did-you-mean.ts';
import type { ConfigView } from '../config-view.ts';
import { MOST_ADVICE } from './advice.ts';
import { allOf, type Complaint } from './rule.ts';

/** Gates of the config that this kubelet does not know, has locked, or that need others. All are fatal at its start. */
export function judgeFeatureGates(gates: Readonly<Record<string, unknown>>, config: ConfigView): readonly Complaint[] {
  const each = Object.entries(gates).flatMap(([name, value], index) =>
    judgeGate(name, value, config.minor, index < MOST_ADVICE),
  );
  return [...each, ...missingDependencies(config)];
}

function judgeGate(name: string, value: unknown, minor: number, advise: boolean): readonly Complaint[] {
  const at = ['featureGates', name];
  const spec = gateSpec(name, minor);
  if (spec === undefined) return [unknownGate(name, minor, advise)];
  // null counts as false; other types are wrong types, and judged as such.
  const isOn = value ?? false;
  if (!spec.locked || spec.default === isOn || typeof isOn !== 'boolean') return [];
  const message = `the kubelet has locked the gate ${name} to ${spec.default} and does not start with ${isOn}`;
  return [{ code: 'locked-feature-gate', at, message, suggestion: 'take it out' }];
}

function unknownGate(name: string, minor: number, advise: boolean): Complaint {
  const at = ['featureGates', name];
  const history = gateHistory(name);
  const code = 'unknown-feature-gate';
  const fatal = 'and does not start with it';
  if (history === undefined) {
    const meant = advise ? (sameButCase(name, gateNames()) ?? didYouMean(name, gateNames())) : undefined;
    const suggestion = meant === undefined ? 'take it out' : `did you mean ${meant}?`;
    return {
      code,
      at,
      message: `no kubelet up to ${minorName(NEWEST_MINOR)} knows the gate ${name}, ${fatal}`,
      suggestion,
    };
  }
  const first = history[0]?.from ?? 0;
  const when = minor < first ? `came with ${minorName(first)}` : `went with ${minorName(history.at(-1)?.from ?? 0)}`;
  const message = `the kubelet does not know the gate ${name} ${fatal}: it ${when}`;
  return { code, at, message, suggestion: 'take it out, or put it into a pool of nodes that know it' };
}

/** Also of gates that are on by default: switching off what they rest on is fatal, too. */
function missingDependencies(config: ConfigView): readonly Complaint[] {
  const missing = Object.keys(GATE_DEPENDENCIES).flatMap((name) => {
    if (!config.gate(name)) return [];
    return gateDependencies(name, config.minor)
      .filter((other) => !config.gate(other))
      .map((other) => ({ name, other }));
  });
  const isNamed = ({ name }: { readonly name: string }): boolean => config.isSet(`featureGates.${name}`);
  const named = missing.filter(isNamed).map(({ name, other }) => needsOther(name, other));
  // What was switched off is said once, however many gates rest on it.
  const others = Map.groupBy(
    missing.filter((pair) => !isNamed(pair)),
    ({ other }) => other,
  );
  return [
    ...named,
    ...[...others].map(([other, pairs]) =>
      carriesOthers(
        other,
        pairs.map(({ name }) => name),
      ),
    ),
  ];
}

function needsOther(name: string, other: string): Complaint {
  return {
    code: 'gate-off',
    at: ['featureGates', name],
    message: `the gate ${name} may only be on while ${other} is, which is off`,
    suggestion: `set ${other}: true as well`,
    restsOn: [`featureGates.${name}`, `featureGates.${other}`],
  };
}

function carriesOthers(other: string, names: readonly string[]): Complaint {
  const gates = names.length === 1 ? 'the gate' : 'the gates';
  return {
    code: 'gate-off',
    at: ['featureGates', other],
    message: `${gates} ${allOf(names)} may only be on while ${other} is, which is off`,
    suggestion: `set ${allOf(names.map((name) => `${name}: false`))} as well`,
    restsOn: [...names, other].map((name) => `featureGates.${name}`),
  };
}
