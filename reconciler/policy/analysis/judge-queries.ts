import type { FleetQuery, MeasuresSource, NodeQuery, QueryMeasure } from '#shared/contract/api/prometheus-queries.ts';
import { type CanaryVerdict, formatFirstSentences } from './analyse.ts';
import type { NodeNumber, QueryAnswer, QueryAnswers } from './query-answer.ts';
import { median } from './rank-statistics.ts';
import type { MeasureChange } from './sample.ts';
import { formatThreeDigits } from './thresholds.ts';
import { regressionOf } from './regression.ts';

/** The nodes that are compared, by name. */
interface ComparedNames {
  readonly canaries: readonly string[];
  readonly waiting: readonly string[];
}

/** What each query says of the config. A query that has no answer, or none for one of the canaries, leaves it unknown. Pure. */
export function judgeQueries(
  { queries }: MeasuresSource,
  answers: QueryAnswers,
  compared: ComparedNames,
): readonly CanaryVerdict[] {
  return queries.map((query) => judge(query, answers.get(query.name), compared));
}

function judge(query: QueryMeasure, answer: QueryAnswer | undefined, compared: ComparedNames): CanaryVerdict {
  if (answer === undefined) return unknown(query, 'has not been asked yet');
  if ('missing' in answer) return unknown(query, answer.missing);
  if ('value' in answer) {
    return 'least' in query ? unknown(query, 'has one number for all nodes') : judgeNumber(query, answer.value);
  }
  return 'least' in query ? judgeNodes(query, answer, compared) : unknown(query, 'has a number for each node');
}

function judgeNumber({ name, above, below }: FleetQuery, value: number): CanaryVerdict {
  const said = `${name} is ${formatThreeDigits(value)}`;
  if (value > (above ?? Infinity)) return { verdict: 'fail', because: `${said}, above ${above}` };
  if (value < (below ?? -Infinity)) return { verdict: 'fail', because: `${said}, below ${below}` };
  return { verdict: 'pass', because: said };
}

type NodeNumbers = Extract<QueryAnswer, { readonly before: unknown }>;

function judgeNodes(query: NodeQuery, answer: NodeNumbers, { canaries, waiting }: ComparedNames): CanaryVerdict {
  const missing = canaries.flatMap((node) => missingOf(node, answer) ?? []);
  if (canaries.length === 0) return { verdict: 'unknown', because: 'no canary has proven the config yet' };
  const [tried, others] = [changesOf(canaries, answer), changesOf(waiting, answer)];
  const { name, least, percent = 0, worse = 'up' } = query;
  const isMost = tried.length > missing.length;
  const found = isMost ? regressionOf(tried, others, { least, percent, nothing: least, worse }) : null;
  if (found !== null) {
    return {
      verdict: 'fail',
      because: `${name} is ${formatThreeDigits(found.now)}, before ${formatThreeDigits(found.before)}; ${found.meanwhile}`,
    };
  }
  if (missing.length > 0) return unknown(query, formatFirstSentences(missing));
  const [before, now] = [tried.map((each) => each.before), tried.map((each) => each.now)].map(median);
  return {
    verdict: 'pass',
    because: `${name} is ${formatThreeDigits(now ?? 0)}, before ${formatThreeDigits(before ?? 0)}; nodes that wait: ${others.length}`,
  };
}

function missingOf(node: string, { before, now }: NodeNumbers): string | null {
  return lackOf(node, now.get(node), '') ?? lackOf(node, before.get(node), ' before the change');
}

function lackOf(node: string, number: NodeNumber | undefined, when: string): string | null {
  if (typeof number === 'number') return null;
  const what = number === undefined ? 'no series' : number === 'several' ? 'several series' : 'no number of at least 0';
  return `${what} for ${node}${when}`;
}

const changesOf = (names: readonly string[], answer: NodeNumbers): readonly MeasureChange[] =>
  names.flatMap((node) => {
    const [before, now] = [answer.before.get(node), answer.now.get(node)];
    return typeof before === 'number' && typeof now === 'number' ? [{ before, now }] : [];
  });

const unknown = ({ name }: QueryMeasure, why: string): CanaryVerdict => ({
  verdict: 'unknown',
  because: `${name}: ${why}`,
});
