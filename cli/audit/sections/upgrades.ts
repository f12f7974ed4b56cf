import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { type Finding, sentenceOf } from '#shared/contract/finding.ts';
import { REMOVED_FLAGS } from '#shared/contract/kubelet-config/fields/removed-flags.ts';
import { minorName, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { foreseeConfig, type UpgradeForesight } from '../../foresight/foresee-upgrades.ts';
import { oncePerConfig } from '../alike.ts';
import type { AuditSection } from '../audit-report.ts';
import { checkOf, type Rule, sectionOf, type Verdict } from '../checks.ts';
import { judgedBy, type NodeFacts } from '../node-facts.ts';
import { withoutDefaults } from './sameness.ts';

/** Something that a version does with a config. */
interface Change {
  readonly rule: Rule;
  readonly verdict: Verdict;
}

/** What the kubelet of today and the next minors refuse, drop or do otherwise with what the nodes run. Pure. */
export function auditUpgrades(nodes: readonly NodeFacts[]): AuditSection {
  const known = new Map<string, readonly Change[]>();
  const ofConfig = oncePerConfig((facts) => changesFor(facts, known));
  const changes = nodes.flatMap((facts) =>
    [...ofConfig(facts), ...flagChanges(facts)].map((change) => ({ ...change, node: facts.name })),
  );
  const byId = Map.groupBy(changes, ({ rule }) => rule.id);
  const unversioned = nodes.filter(({ kubeletVersion }) => kubeletVersion === '');
  const checks = [
    ...[...byId.values()].map((of) =>
      checkOf(
        (of[0] as Change).rule,
        of.map(({ node, verdict }) => [node, verdict] as const),
      ),
    ),
    ...(unversioned.length === 0
      ? []
      : [
          checkOf(
            VERSION,
            unversioned.map(({ name }) => [name, { result: 'not-visible', evidence: [] }] as const),
          ),
        ]),
  ];
  const failing = new Set(changes.filter(({ verdict }) => verdict.result === 'fail').map(({ node }) => node)).size;
  const seen = nodes.length - unversioned.length;
  const upTo = `up to ${minorName(NEWEST_MINOR)}, the newest that is known`;
  const summary =
    seen === 0
      ? 'the versions of the kubelets are not known'
      : failing === 0
        ? `nothing stands in the way of ${seen} nodes, ${upTo}`
        : `${failing} of ${seen} nodes run what newer kubelets refuse, drop or read otherwise, ${upTo}`;
  return sectionOf({ id: 'upgrades', title: 'Upgrades', summary, checks });
}

const VERSION: Rule = {
  id: 'upgrades/version',
  title: 'Name the version of the kubelet',
  severity: 'low',
  fix: { how: 'give --inventory, or --kubelet-version' },
  references: [],
};

/** Configs that are alike are judged once. */
function changesFor(facts: NodeFacts, known: Map<string, readonly Change[]>): readonly Change[] {
  const { kubeletVersion, origin, running } = facts;
  if (kubeletVersion === '') return [];
  const minor = judgedBy(facts);
  const value = withoutDefaults(facts);
  const key = `${minor} ${origin} ${canonicalize(origin === 'file' ? running : value)}`;
  const found = known.get(key) ?? [
    ...(origin === 'file'
      ? validateKubeletConfig(running, { minor: minorName(minor) }).map((each) => ofFinding('now', each))
      : []),
    ...foreseeConfig({ name: '', value, spec: { apply: 'replace' } }, [minorName(minor)]).flatMap(changesOf),
  ];
  known.set(key, found);
  return found;
}

function flagChanges(facts: NodeFacts): readonly Change[] {
  const { kubeletVersion, removedFlags = [] } = facts;
  return kubeletVersion === '' ? [] : removedFlags.flatMap((flag) => flagChange(flag, judgedBy(facts)));
}

function changesOf({ to, findings, defaults, meanings, announced }: UpgradeForesight): readonly Change[] {
  const info = (kind: string, field: string, title: string, value: string, reference?: string): Change => ({
    rule: {
      id: `upgrades/${to}/${kind}/${field}`,
      title,
      severity: 'low',
      references: reference === undefined ? [] : [reference],
    },
    verdict: { result: 'info', evidence: [{ field, value }] },
  });
  return [
    ...findings.map((finding) => ofFinding(to, finding)),
    ...meanings.map(({ field, before, after }): Change => {
      const change = info('meaning', field, `Check ${field}: kubelet ${to} reads it otherwise`, after);
      const rule: Rule = { ...change.rule, severity: 'medium', because: `before: ${before}` };
      return { rule, verdict: { ...change.verdict, result: 'fail' } };
    }),
    ...defaults.map(({ field, before, after }) =>
      info('default', field, `Expect another default of ${field} in kubelet ${to}`, `${before} → ${after}`),
    ),
    ...announced.map(({ field, what, source }) =>
      info('announced', field, `Expect a change of ${field}, announced for kubelet ${to}`, what, source),
    ),
  ];
}

/** @param to `1.36`, or `now` for what the present version says */
function ofFinding(to: string, finding: Finding): Change {
  const { field = '', code, severity, suggestion, versions: _, ...rest } = finding;
  const version = to === 'now' ? 'today’s kubelet' : `kubelet ${to}`;
  const what = field === '' ? 'the config' : field;
  return {
    rule: {
      id: `upgrades/${to}/${code}${field === '' ? '' : `/${field}`}`,
      title: severity === 'error' ? `Change ${what}: ${version} refuses it` : `Check ${what}: ${version} warns of it`,
      severity: severity === 'error' ? 'high' : 'medium',
      because: sentenceOf({ ...rest, code, severity, field }),
      ...(suggestion === undefined ? {} : { fix: { how: suggestion } }),
      references: [],
    },
    verdict: { result: 'fail', evidence: [{ field: field === '' ? code : field, value: 'set' }] },
  };
}

function flagChange(flag: string, minor: number): readonly Change[] {
  const gone = REMOVED_FLAGS.get(flag) ?? 0;
  if (gone <= minor) return [];
  const to = minorName(gone);
  return [
    {
      rule: {
        id: `upgrades/${to}/flag/${flag}`,
        title: `Take --${flag} away: kubelet ${to} refuses it`,
        severity: 'high',
        fix: { how: `take --${flag} off the command line before the upgrade` },
        references: [],
      },
      verdict: { result: 'fail', evidence: [{ field: `--${flag}`, value: 'set', by: 'flag' }] },
    },
  ];
}
