import { firstFew } from '#shared/runtime/first-few.ts';
import type { Paint } from '../paint.ts';
import { joinLines } from '../one-line.ts';
import { renderFolding } from '../text-table.ts';
import type { DiffRow } from './compare.ts';

/** One comparison, of a class of machines or of a node. Its keys are those of `-o json`. */
export interface Comparison {
  /** Of machines; '' where the pool computes nothing. */
  readonly class: string;
  readonly settled: string;
  readonly wanted: string;
  readonly fields: readonly DiffRow[];
}

/** How many nodes run a config. */
export interface Running {
  readonly config: string;
  readonly nodes: readonly string[];
}

export interface Difference {
  readonly pool: string | null;
  readonly node: string | null;
  readonly comparisons: readonly Comparison[];
  /** Of a pool. */
  readonly running: readonly Running[];
  /** Where the column of what runs is from: the kubelet, or its agent's report and why. Absent of a pool. */
  readonly seen?: string;
}

/** Settled, wanted and, of a node, what runs, field by field; one line where nothing differs. */
export function differenceAsText(found: Difference, paint: Paint, columns?: number): string {
  const of = found.pool === null ? '' : ` of pool ${found.pool}`;
  const about = found.node === null ? `pool ${found.pool}` : `node ${found.node}${of}`;
  const lines = found.comparisons.flatMap((each) => {
    const what = each.class === '' ? about : `${about}, ${each.class}`;
    const verdict = each.settled === each.wanted ? `settled on ${each.wanted}` : `${each.settled} → ${each.wanted}`;
    return [
      `${paint('strong', what)}: ${verdict}`,
      ...(each.fields.length === 0 ? [paint('quiet', 'no field differs')] : table(each.fields, paint, columns)),
      '',
    ];
  });
  const running = found.running.map(
    ({ config, nodes }) =>
      `${nodes.length} ${nodes.length === 1 ? 'node runs' : 'nodes run'} ${config}: ${firstFew(nodes)}`,
  );
  const seen = found.seen === undefined ? [] : [paint('quiet', `what runs: ${found.seen}`)];
  return `${joinLines([...lines, ...running, ...seen])}\n`;
}

function table(fields: readonly DiffRow[], paint: Paint, columns: number = Infinity): readonly string[] {
  const hasRunning = fields.some(({ runs }) => runs !== undefined);
  const shown = (value: string | null | undefined): string => value ?? 'not set';
  const rows = fields.map(({ field, settled, wanted, runs }) => [
    field,
    shown(settled),
    ...(hasRunning ? [runs === undefined ? '-' : shown(runs)] : []),
    shown(wanted),
  ]);
  const heading = ['FIELD', 'SETTLED', ...(hasRunning ? ['RUNS'] : []), 'WANTED'];
  const [[first = ''] = [], ...rest] = renderFolding([heading, ...rows], columns);
  return [paint('strong', first), ...rest.flat()];
}
