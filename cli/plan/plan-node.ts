import { writtenKeep } from '#shared/contract/api/config-identity.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import { provesRunning } from '#shared/contract/kubelet-config/proves-running.ts';
import { minorNumber, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import {
  exactMemoryIsAsked,
  reservedByNode,
  setAsideMemory,
} from '#shared/contract/kubelet-config/rules/static-memory.ts';
import { parseCpus } from '#shared/contract/kubelet-config/syntax/cpu-set.ts';
import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import { validateForVersions } from '#shared/contract/kubelet-config/validate-versions.ts';
import { type ConfigView, viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import {
  type Allocatable,
  allocatableEffect,
  type AppliedConfig,
  mostLeft,
} from '#reconciler/policy/allocatable/allocatable.ts';
import { overlayOnLocal } from '#shared/contract/kubelet-config/effective.ts';
import { diffPayloads } from '#shared/contract/kubelet-config/field-diff.ts';
import { onDistribution } from './on-distribution.ts';
import { disruptionFor } from './wait-reasons.ts';
import { lockOutReasons } from '#reconciler/policy/allocatable/lock-out-reasons.ts';
import type { AllocatableChange, NodePlan, NodeWarning } from './merge-plan.ts';
import { isMap } from '#shared/runtime/maps.ts';
import { firstFew } from '#shared/runtime/first-few.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * What another config does to one node, and what the node would say against it before its kubelet heard of it, as far as
 * an inventory can tell.
 */
export function planNode(node: InventoryNode, before: ValidPool | undefined, after: ValidPool | undefined): NodePlan {
  const { name, kubeletVersion } = node;
  const value = after?.value ?? {};
  const was = appliedOf(before);
  const is: AppliedConfig = appliedOf(after) ?? { value, apply: 'overlay' };
  const allocatable = after === undefined ? allocatableEffect(node, was, is) : leftFor(node, was, is);
  const locked = lockedOut(node, was, is);
  const judged = after === undefined ? [] : [...judge(node, after), ...onDistribution(node, after)];
  return {
    name,
    kubeletVersion,
    allocatable,
    ...(locked.length === 0 ? {} : { held: locked.join('; ') }),
    ...(before === undefined && after !== undefined && !judged.some(({ refuses }) => refuses)
      ? takeOver(node, after)
      : { runsAlready: false }),
    warnings: [
      ...judged,
      ...tooManyPods(node, allocatable, after),
      ...fewAddresses(node, allocatable),
      ...onMachine(node, value),
      ...(locked.length === 0 ? starved(allocatable) : []),
      ...locked.map((text) => ({ text: `${text}, so the node would refuse it`, refuses: true })),
      ...losing(node, before, after),
    ],
  };
}

/** With a bound where the exact number depends on the node's own config, which only `--running` shows. */
function leftFor(node: InventoryNode, was: AppliedConfig | null, is: AppliedConfig): readonly AllocatableChange[] {
  const [before, after] = asItRuns(node, was, is);
  const exact = allocatableEffect(node, before, after);
  const known = new Set(exact.map(({ resource }) => resource));
  const bounds = mostLeft(node, before, after).filter(({ resource }) => !known.has(resource));
  return [...exact, ...bounds.map(({ capacity, taken, ...change }) => ({ ...change, atMost: { capacity, taken } }))];
}

const RESERVING = ['kubeReserved', 'systemReserved', 'evictionHard', 'reservedSystemCPUs', 'maxPods', 'podsPerCore'];

/** An overlay over what the kubelet runs leaves nothing unknown, unless it takes something back that the one before set. */
function asItRuns(
  { running, kubeletVersion }: InventoryNode,
  was: AppliedConfig | null,
  is: AppliedConfig,
): readonly [AppliedConfig | null, AppliedConfig] {
  if (running === undefined || is.apply !== 'overlay') return [was, is];
  const taken = diffPayloads(was?.value ?? null, is.value).some(
    ({ path, after }) => after === undefined && RESERVING.includes(path.split('.')[0] ?? ''),
  );
  if (taken) return [was, is];
  const value = overlayOnLocal(running, is.value, kubeletVersion);
  return [
    { value: running, apply: 'replace' },
    { value, apply: 'replace' },
  ];
}

/** What the node itself has against the config before its kubelet hears of it; undefined for nothing, and for what it is never told. */
export const refusalIn = ({ held, warnings }: NodePlan): string | undefined =>
  held === undefined ? warnings.find(({ refuses }) => refuses)?.text : undefined;

const appliedOf = (pool: ValidPool | undefined): AppliedConfig | null =>
  pool === undefined ? null : { value: pool.value, apply: pool.spec.apply, ...writtenKeep(pool.spec) };

/** A first config that says what the kubelet runs anyway changes nothing but whose word it is: the agent restarts nothing for it. */
function takeOver(
  { running, kubeletVersion }: InventoryNode,
  { value, spec }: ValidPool,
): Pick<NodePlan, 'runsAlready' | 'unclear'> {
  if (running === undefined) return { runsAlready: false, unclear: 'not-asked' };
  if (contradictions(value, running, kubeletVersion).length > 0) return { runsAlready: false };
  // What the config takes back, leaves out, or says of a map beside others would have to be known of the node's own file.
  const question = { wanted: value, present: partOf(running, value), running };
  const isProved = spec.apply === 'overlay' && !hasNull(value) && provesRunning(question, kubeletVersion);
  return isProved ? { runsAlready: true } : { runsAlready: false, unclear: 'own-config' };
}

/** What a kubelet runs, as far as a config says anything of it. */
const partOf = (running: Config, config: Config): Config =>
  Object.fromEntries(
    Object.entries(config).flatMap(([name, value]) => {
      const seen = Object.hasOwn(running, name) ? running[name] : undefined;
      if (seen === undefined) return [];
      return [[name, isMap(seen) && isMap(value) ? partOf(seen, value) : seen]];
    }),
  );

const hasNull = (value: unknown): boolean => value === null || (isMap(value) && Object.values(value).some(hasNull));

const refused = (text: string, here?: string): NodeWarning => ({
  text: `${text}: the node would refuse it`,
  refuses: true,
  ...(here === undefined ? {} : { here }),
});

function judge({ kubeletVersion }: InventoryNode, { value, spec }: ValidPool): readonly NodeWarning[] {
  if (minorNumber(kubeletVersion) === undefined) return [];
  const found = validateForVersions(value, [kubeletVersion], { apply: spec.apply, tolerate: spec.tolerate ?? [] });
  const say = ({ field, message }: Finding): string =>
    `${field === undefined || message.startsWith(field) ? '' : `${field}: `}${message}`;
  return [
    ...found.filter(({ severity }) => severity === 'error').map((finding) => refused(say(finding))),
    ...found
      .filter(({ code, severity }) => code === 'known-bad' && severity === 'warning')
      .map((finding) => ({ text: say(finding), refuses: false })),
  ];
}

/** Where a drain is allowed, it comes first. */
function tooManyPods(
  { pods }: InventoryNode,
  allocatable: readonly Allocatable[],
  pool: ValidPool | undefined,
): readonly NodeWarning[] {
  const limit = allocatable.find(({ resource }) => resource === 'pods')?.after;
  if (limit === undefined || pods === undefined || pods <= limit) return [];
  if (allowsDrain(pool)) {
    const text = `more pods run there than maxPods allows (${limit}): the node is drained first`;
    return [{ text, here: `${pods} pods`, refuses: false }];
  }
  return [refused(`more pods run there than maxPods allows (${limit})`, `${pods} pods`)];
}

/** Only said: the network may take addresses from elsewhere, and pods in the host's network need none. */
function fewAddresses({ podAddresses }: InventoryNode, allocatable: readonly Allocatable[]): readonly NodeWarning[] {
  const limit = allocatable.find(({ resource }) => resource === 'pods')?.after;
  if (limit === undefined || podAddresses === undefined || limit <= podAddresses) return [];
  const text = `maxPods allows ${limit} pods, and the node's podCIDR has ${podAddresses} addresses for them: the others would not start`;
  return [{ text, refuses: false }];
}

const starved = (allocatable: readonly Allocatable[]): readonly NodeWarning[] =>
  allocatable
    .filter(({ after: left }) => left <= 0)
    .map(({ resource }) => refused(`nothing is left of its ${resource}`));

/** The reconciler holds such a node back. */
const lockedOut = (node: InventoryNode, before: AppliedConfig | null, after: AppliedConfig): readonly string[] =>
  node.vital === undefined ? [] : lockOutReasons(node, before, after, node.vital);

export const allowsDrain = (pool: ValidPool | undefined): boolean =>
  pool?.spec.disruption?.allow.includes('drain') === true;

/** Pods that need what goes off; the reconciler drains such a node, if it may. */
function losing(
  node: InventoryNode,
  before: ValidPool | undefined,
  after: ValidPool | undefined,
): readonly NodeWarning[] {
  if (before === undefined || after === undefined) return [];
  const { features, fields } = disruptionFor(node, before, after);
  if (features === undefined || node.needs === undefined) return [];
  const text =
    'pods need a feature that goes off, and end as Failed after the restart unless the node is drained first';
  return [{ text, here: fields.join(', '), refuses: false }];
}

/** What preflight asks of CPUs and memory, where the config says all that it takes to answer. */
function onMachine({ capacity, kubeletVersion }: InventoryNode, config: Config): readonly NodeWarning[] {
  const minor = Math.min(minorNumber(kubeletVersion) ?? NEWEST_MINOR, NEWEST_MINOR);
  const view = viewOf(config, minor, 'overlay');
  const cpus = parseQuantity(capacity['cpu'] ?? '');
  const memory = parseQuantity(capacity['memory'] ?? '');
  return [...missingCpus(view, cpus), ...(memory === undefined ? [] : unequalMemory(view, memory))];
}

/** CPUs are numbered from 0 on where none is offline. */
function missingCpus(view: ConfigView, count: number | undefined): readonly NodeWarning[] {
  const asked = parseCpus(view.text('reservedSystemCPUs') ?? '');
  if (asked === undefined || count === undefined) return [];
  const missing = [...asked].filter((cpu) => cpu >= count);
  if (missing.length === 0) return [];
  return [refused(`reservedSystemCPUs names CPU ${firstFew(missing.map(String))}, and the node has ${count}`)];
}

function unequalMemory(view: ConfigView, capacity: number): readonly NodeWarning[] {
  const isKnown = ['reservedMemory', 'kubeReserved', 'systemReserved', 'evictionHard'].every((field) =>
    view.isSet(field),
  );
  const aside = isKnown && exactMemoryIsAsked(view) ? setAsideMemory(view, capacity) : undefined;
  if (aside === undefined || aside === reservedByNode(view)) return [];
  return [refused(`the Static memory manager needs reservedMemory of ${aside / 2 ** 20}Mi in all there`)];
}
