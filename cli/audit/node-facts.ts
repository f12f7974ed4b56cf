import { passedFlags } from '#shared/contract/distribution-flags.ts';
import { distributionOf } from '#shared/contract/distribution-of-node.ts';
import { valueAt, viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';
import { minorNumber, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { mapOf } from '#shared/runtime/maps.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { redactValue } from '../support-bundle/redact-value.ts';
import { yamlOfJson } from '../yaml-value.ts';
import type { Evidence } from './audit-report.ts';

/** What is known of a node that said what it runs. */
export interface NodeFacts extends Pick<InventoryNode, 'name' | 'labels' | 'kubeletVersion' | 'osImage'> {
  /** What its Node says; absent where there is none. */
  readonly node?: InventoryNode;
  /** `configz`: what the kubelet works with. `file`: what a file says, before defaults and flags. */
  readonly origin: 'configz' | 'file';
  readonly running: Readonly<Record<string, unknown>>;
  /** The same without the identity of the node: one object for all nodes that run it. Absent where they were not compared. */
  readonly alike?: NodeFacts['running'];
  /** What its kubelet measures; absent where it was not asked. */
  readonly use?: SystemUse;
  /** When the certificate ends that its kubelet serves with; absent where it was not seen. */
  readonly certificateEnds?: Millis;
  /** Flags on its command line that newer kubelets do not know, as its agent reports them; absent without an agent. */
  readonly removedFlags?: readonly string[];
}

/** What all outside of pods uses, in cores and bytes of the working set. */
export interface SystemUse {
  readonly at: Millis;
  readonly cpu?: number;
  readonly memory?: number;
  /** Of these, what the kubelet tells apart: `kubelet`, `runtime`. */
  readonly parts: readonly { readonly name: string; readonly cpu: number; readonly memory: number }[];
}

/** The minor that a node is judged by: the newest that is known for newer ones, and where the version is not known. */
export const judgedBy = ({ kubeletVersion }: Pick<NodeFacts, 'kubeletVersion'>): number =>
  Math.max(OLDEST_MINOR, Math.min(minorNumber(kubeletVersion) ?? NEWEST_MINOR, NEWEST_MINOR));

/** What a kubelet works with in one field; undefined where a flag may say otherwise. */
export interface EffectiveValue {
  readonly value: unknown;
  readonly by: NonNullable<Evidence['by']>;
  /** The flag that gives it. */
  readonly place?: string;
}

/**
 * A field as the kubelet works with it: defaults of its version filled in, and over a file the flags that its distribution passes.
 *
 * @param field a path of the table
 * @returns undefined where a flag sets it to what is not known here
 */
export function effectiveOf(facts: NodeFacts, field: string): EffectiveValue | undefined {
  const { running, origin, kubeletVersion } = facts;
  const written = valueAt(running, field) ?? undefined;
  if (origin === 'configz') {
    // Zero is what a flag said: what a file leaves unset has its default here.
    if (written !== undefined) return { value: written, by: 'kubelet' };
    return { value: viewOf(running, judgedBy(facts), 'replace').value(field), by: 'default' };
  }
  const distribution = distributionOf(facts);
  const flags = distribution === undefined ? [] : passedFlags(distribution, kubeletVersion);
  const flag = flags.find((each) => each.field === field);
  if (flag !== undefined && flag.sometimes === undefined) {
    const value = flag.value === undefined ? undefined : meantBy(flag.value, field);
    return value === undefined ? undefined : { value, by: 'flag', place: flag.flag };
  }
  if (flag !== undefined && written === undefined) return undefined;
  const value = viewOf(running, judgedBy(facts), 'replace').value(field);
  return { value, by: written === undefined ? 'default' : 'config' };
}

/** All that the kubelet works with as far as that is known: of a file, with the defaults of its version. */
export function wholeConfig(facts: NodeFacts): NodeFacts['running'] {
  if (facts.origin === 'configz') return facts.running;
  const view = viewOf(facts.running, judgedBy(facts), 'replace');
  const values = [...FIELDS].flatMap(([path, { kind }]) => {
    const value = path.includes('[') || kind === 'struct' ? undefined : view.value(path);
    return value === undefined ? [] : [path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)];
  });
  return values.reduce<NodeFacts['running']>((whole, each) => mapOf(mergePatch(whole, each)), facts.running);
}

/** What a flag's text means; undefined for what is not written in one word. */
function meantBy(text: string, field: string): unknown {
  const kind = FIELDS.get(field)?.kind ?? 'struct';
  if (kind === 'bool') return text === 'true';
  if (/^u?int/.test(kind)) return Number(text);
  return kind === 'string' || kind.startsWith('duration') ? text : undefined;
}

/** A value in one line, without what looks like a credential. */
export function shownValue(value: unknown, field: string): string {
  if (value === undefined || value === null) return 'unset';
  return yamlOfJson(abbreviateJson(redactValue(value, field.split('.', 1)[0])));
}
