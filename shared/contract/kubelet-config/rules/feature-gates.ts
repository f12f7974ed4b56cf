import { GATE_DEPENDENCIES, gateHistory, gateNames, gateSpec } from '../feature-gates.ts';
import { minorName } from '../minor.ts';
import { didYouMean, sameButCase } from '../syntax/did-you-mean.ts';
import type { ConfigView } from '../view.ts';
import type { Complaint } from './rule.ts';

/** Gates of the config that this kubelet does not know, has locked, or that need others. All are fatal at its start. */
export function judgeFeatureGates(gates: Readonly<Record<string, unknown>>, config: ConfigView): readonly Complaint[] {
  return Object.entries(gates).flatMap(([name, value]) => {
    const isOn = value === true;
    return [...judgeGate(name, isOn, config.minor), ...(isOn ? missingDependencies(name, config) : [])];
  });
}

function judgeGate(name: string, isOn: boolean, minor: number): readonly Complaint[] {
  const at = ['featureGates', name];
  const spec = gateSpec(name, minor);
  if (spec === undefined) return [unknownGate(name, minor)];
  if (!spec.locked || spec.default === isOn) return [];
  const message = `the kubelet has locked the gate ${name} to ${spec.default} and does not start with ${isOn}`;
  return [{ code: 'locked-feature-gate', at, message, suggestion: 'take it out' }];
}

function unknownGate(name: string, minor: number): Complaint {
  const at = ['featureGates', name];
  const history = gateHistory(name);
  const code = 'unknown-feature-gate';
  const fatal = 'and does not start with it';
  if (history === undefined) {
    const meant = sameButCase(name, gateNames()) ?? didYouMean(name, gateNames());
    const suggestion = meant === undefined ? 'take it out' : `did you mean ${meant}?`;
    return { code, at, message: `no kubelet from 1.20 on knows the gate ${name}, ${fatal}`, suggestion };
  }
  const first = history[0]?.from ?? 0;
  const when = minor < first ? `came with ${minorName(first)}` : `went with ${minorName(history.at(-1)?.from ?? 0)}`;
  const message = `the kubelet does not know the gate ${name} ${fatal}: it ${when}`;
  return { code, at, message, suggestion: 'take it out, or put it into a pool of nodes that know it' };
}

function missingDependencies(name: string, config: ConfigView): readonly Complaint[] {
  if (config.minor < 35 || gateSpec(name, config.minor) === undefined) return [];
  const missing = (GATE_DEPENDENCIES[name] ?? []).filter((other) => !config.gate(other));
  return missing.map((other) => ({
    code: 'gate-off',
    at: ['featureGates', name],
    message: `the gate ${name} may only be on while ${other} is, which is off`,
    suggestion: `set ${other}: true as well`,
    restsOn: [`featureGates.${other}`],
  }));
}
