import { serialize } from 'node:v8';
import type { NodeFacts } from './node-facts.ts';

/** What no two nodes have alike, and no check looks at. */
export const IDENTITY: ReadonlySet<string> = new Set(['providerID', 'podCIDR', 'address']);

/**
 * Of configs that are alike but for the identity of their nodes, all parts are kept once: most nodes run one of a few, and one config
 * takes ten kilobytes. What a node runs is said as before, to the order of its fields.
 */
export function shareConfigs(): (running: NodeFacts['running']) => Pick<NodeFacts, 'running' | 'alike'> {
  const known = new Map<string, NodeFacts['running']>();
  return (running) => {
    const fields = Object.entries(running);
    const rest = Object.fromEntries(fields.filter(([name]) => !IDENTITY.has(name)));
    // Not as JSON, in which several values are null: a kubelet may say anything.
    const text = serialize(rest).toString('latin1');
    const alike = known.get(text) ?? rest;
    known.set(text, alike);
    const isAll = Object.keys(alike).length === fields.length;
    const own = fields.map(([name, value]) => [name, IDENTITY.has(name) ? value : alike[name]] as const);
    return { alike, running: isAll ? alike : Object.fromEntries(own) };
  };
}

/**
 * Judges nodes once whose kubelets are of one version and say that they run the same but for their identity.
 *
 * @param judge looks at nothing else of a node
 */
export function oncePerConfig<T>(judge: (facts: NodeFacts) => T): (facts: NodeFacts) => T {
  const known = new Map<string, Map<NodeFacts['running'], T>>();
  return (facts) => {
    const { alike, kubeletVersion, origin } = facts;
    // Over a file, flags of the distribution count as well.
    if (alike === undefined || origin === 'file') return judge(facts);
    const ofVersion = known.get(kubeletVersion) ?? new Map<NodeFacts['running'], T>();
    known.set(kubeletVersion, ofVersion);
    const found = ofVersion.get(alike);
    if (found !== undefined) return found;
    const judged = judge(facts);
    ofVersion.set(alike, judged);
    return judged;
  };
}
