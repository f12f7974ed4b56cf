import type { LabelRequirement } from '#shared/contract/api/kubelet-pool.ts';
import { byFirst, type FleetNode, mostCommon } from './fleet-node.ts';
import { LAST_DISTINCTIVE_RANK, rankOf } from './known-labels.ts';
import { nameOfLabel, nameTogether } from './pool-names.ts';

/** Nodes that a label tells from others, most of which run the same. */
interface Split {
  readonly name: string;
  readonly requirement: LabelRequirement;
  readonly nodes: readonly FleetNode[];
}

/** Of one set of nodes: what more labels say is chance, and that many pools are unreadable. */
const MOST_SPLITS = 256;

/** Nodes with one label, of which some may be in a split already. */
interface Candidate {
  readonly key: string;
  readonly value: string;
  readonly rank: number;
  readonly all: readonly FleetNode[];
  left: readonly FleetNode[];
  /** What it would be chosen for, by those that are left. */
  choice: Choice | undefined;
}

interface Choice {
  readonly candidate: Candidate;
  readonly kind: string;
  readonly score: number;
}

/**
 * Finds labels that select nodes with another config: the label that gets most nodes right comes first,
 * and its nodes are out of the question for the next. Pure.
 *
 * @param base what most of `nodes` run; undefined where nothing is run by more than half
 */
export function splitByLabels(nodes: readonly FleetNode[], base: string | undefined): readonly Split[] {
  const candidates = candidatesIn(nodes);
  for (const candidate of candidates) candidate.choice = choiceOf(candidate, base);
  const splits: Split[] = [];
  while (splits.length < MOST_SPLITS) {
    const choices = candidates.flatMap(({ choice }) => choice ?? []);
    const best = choices.reduce<Choice | undefined>((one, other) => (isBetter(other, one) ? other : one), undefined);
    if (best === undefined) break;
    const chosen = choices.filter(({ candidate, kind }) => candidate.key === best.candidate.key && kind === best.kind);
    const split = splitOf(
      chosen.map(({ candidate }) => candidate),
      candidates.filter(({ key }) => key === best.candidate.key).length,
    );
    splits.push(split);
    const taken = new Set(split.nodes);
    for (const candidate of candidates) take(candidate, taken, base);
  }
  return splits;
}

function take(candidate: Candidate, taken: ReadonlySet<FleetNode>, base: string | undefined): void {
  const left = candidate.left.filter((node) => !taken.has(node));
  if (left.length === candidate.left.length) return;
  candidate.left = left;
  candidate.choice = choiceOf(candidate, base);
}

function candidatesIn(nodes: readonly FleetNode[]): readonly Candidate[] {
  const byLabel = new Map<string, Map<string, FleetNode[]>>();
  for (const node of nodes) {
    for (const [key, value] of Object.entries(node.labels)) {
      const byValue = byLabel.get(key) ?? new Map<string, FleetNode[]>();
      byLabel.set(key, byValue);
      const members = byValue.get(value);
      if (members === undefined) byValue.set(value, [node]);
      else members.push(node);
    }
  }
  return [...byLabel].sort(byFirst).flatMap(([key, byValue]) => {
    const rank = rankOf(key);
    if (rank === undefined) return [];
    return [...byValue]
      .filter(([, all]) => all.length < nodes.length && (all.length > 1 || rank <= LAST_DISTINCTIVE_RANK))
      .sort(byFirst)
      .map(([value, all]) => ({ key, value, rank, all, left: all, choice: undefined }));
  });
}

function choiceOf(candidate: Candidate, base: string | undefined): Choice | undefined {
  const { all, left, rank } = candidate;
  const [kind, right] = mostCommon(left) ?? ['', 0];
  const wrong = left.length - right;
  if (right === 0 || kind === base || right <= wrong || (right === 1 && rank > LAST_DISTINCTIVE_RANK)) return undefined;
  const elsewhere = all.length - left.length;
  const score = right - 2 * wrong - elsewhere;
  return score > 0 ? { candidate, kind, score } : undefined;
}

const isBetter = (one: Choice, other: Choice | undefined): boolean =>
  other === undefined ||
  one.score > other.score ||
  (one.score === other.score && one.candidate.rank < other.candidate.rank);

/** @param values how many values the label has among the nodes */
function splitOf(candidates: readonly Candidate[], values: number): Split {
  const key = candidates[0]?.key ?? '';
  const named = candidates.map(({ value }) => value);
  const isRole = key.startsWith('node-role.kubernetes.io/') && candidates.length === values;
  return {
    name: nameTogether(named.map((value) => nameOfLabel(key, value))),
    requirement: isRole ? { key, operator: 'Exists' } : { key, operator: 'In', values: named },
    nodes: candidates.flatMap(({ left }) => left),
  };
}
