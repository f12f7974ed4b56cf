import { minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { CRD_FIELDS, RIGHTS } from '../installation.generated.ts';
import { aboutAll, count, type Diagnosis, diagnosis } from '../diagnosis.ts';
import { type Facts, valueOr } from '../facts.ts';
import { type Right, formatRight } from '../rights.ts';

const MOST_FIELDS = 4;

/** CRDs, rights, and the pods of both programs. */
export function diagnoseInstallation(facts: Facts): readonly Diagnosis[] {
  return [...crds(facts), ...rights(facts), ...reconciler(facts), ...agents(facts), ...pods(facts)];
}

function crds({ crds: part }: Facts): readonly Diagnosis[] {
  if (!part.read) return [];
  return Object.entries(CRD_FIELDS).flatMap(([name, wanted]) => {
    const crd = part.value.find((each) => each.name === name);
    if (crd === undefined) return [diagnosis('crd-missing', `there is no CRD ${name}`, [name])];
    if (!crd.established) return [diagnosis('crd-missing', `the CRD ${name} exists but is not served`, [name])];
    const known = new Set(crd.fields);
    const lacks = wanted.filter((field) => !known.has(field));
    if (lacks.length === 0) return [];
    return [diagnosis('crd-old', `the CRD ${name} does not know ${firstFew(lacks, MOST_FIELDS)}`, [name])];
  });
}

/** Rights of a component are only missed where something asks for what they allow. */
function rights(facts: Facts): readonly Diagnosis[] {
  const missing = valueOr(facts.missingRights, []);
  const base = Map.groupBy(
    missing.filter(({ component }) => component === undefined),
    ({ account }) => account,
  );
  const say = (all: readonly Right[]): string => all.map(formatRight).join('; ');
  const of = (component: string): readonly Right[] => missing.filter((right) => right.component === component);
  const pools = valueOr(facts.pools, []);
  const named = (code: 'drain-not-granted' | 'pods-not-granted', names: readonly string[], lacks: readonly Right[]) =>
    lacks.length === 0 ? [] : aboutAll(code, 'pool', names, `the reconciler may not ${say(lacks)}`);
  const draining = pools.filter(({ spec }) => spec?.disruption?.allow.includes('drain'));
  const blocking = pools.filter(({ spec }) => spec?.blockers?.pods !== undefined);
  const old = valueOr(facts.nodes, []).filter(({ kubeletVersion }) => (minorNumber(kubeletVersion) ?? 99) < 33);
  const configz = of('configz-before-1.33');
  return [
    ...[...base].map(([account, lacks]) => {
      const needed = RIGHTS.filter((right) => right.component === undefined && right.account === account);
      const isAll = lacks.length === needed.length;
      const what = isAll ? `has none of the ${needed.length} rights that it needs` : `may not ${say(lacks)}`;
      return diagnosis('rights-missing', `${account} ${what}`, [account]);
    }),
    ...named('drain-not-granted', namesOf(draining), of('drain')),
    ...named('pods-not-granted', namesOf(blocking), of('blocking-pods')),
    ...(configz.length === 0
      ? []
      : aboutAll(
          'configz-not-granted',
          'node',
          old.map(({ name }) => name),
          'a kubelet before 1.33',
        )),
  ];
}

function reconciler({ reconciler: part, pods, namespace }: Facts): readonly Diagnosis[] {
  if (!part.read) return [];
  if (part.value === null) {
    // An operator may run it by other means; then its pods carry the label.
    const runs = valueOr(pods, []).some(({ component }) => component === 'reconciler');
    const what = `there is no Deployment kubelet-gitops-reconciler in namespace ${namespace}`;
    return runs ? [] : [diagnosis('reconciler-missing', what)];
  }
  if (part.value.wanted > 0) return [];
  return [diagnosis('reconciler-stopped', 'the Deployment kubelet-gitops-reconciler wants 0 replicas')];
}

function agents({ agents: part, namespace }: Facts): readonly Diagnosis[] {
  if (!part.read) return [];
  const agents = part.value;
  if (agents === null) {
    return [diagnosis('agents-missing', `there is no DaemonSet kubelet-gitops-agent in namespace ${namespace}`)];
  }
  if (agents.updated >= agents.wanted) return [];
  return [diagnosis('agents-updating', `${agents.updated} of ${agents.wanted} agents are of the current template`)];
}

function pods({ pods: part }: Facts): readonly Diagnosis[] {
  const failing = valueOr(part, []).filter(({ waiting }) => waiting !== '');
  const alike = Map.groupBy(failing, ({ component, waiting }) => `${component} ${waiting}`);
  return [...alike.values()].map((each) => {
    const [first] = each;
    const restarts = each.reduce((sum, pod) => sum + pod.restarts, 0);
    const what = `${count('pod', namesOfPods(each))}: ${first?.waiting}, ${restarts} restarts`;
    return diagnosis('pod-failing', what, namesOfPods(each));
  });
}

const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name);
const namesOfPods = (pods: readonly { readonly name: string }[]): readonly string[] => pods.map(({ name }) => name);
