import { isMap } from '#shared/contract/kubelet-config/written-fields.ts';
import { plainLine } from '#reconciler/git/plain-text.ts';
import { formatClass } from '#reconciler/reporting/pool-status/class-summary.ts';
import { NOTE_SCHEMA } from '#reconciler/reporting/notes/note-content.ts';

/** What a note says of a commit, as far as it can be read: anybody with access to the repository may have written it. */
export interface ReadNote {
  readonly outcome: string;
  /** Why, where the outcome alone does not tell; otherwise empty. */
  readonly message: string;
  /** `general 2/6`: nodes that are updated, of all; absent where the JSON is not whole. */
  readonly pools?: readonly string[];
  /** Classes of machines without a config, with their pool; absent for none: `general: cpu=4: 2 nodes keep what they have: …`. */
  readonly heldClasses?: readonly string[];
  /** Why windows did not count, by pool. */
  readonly emergencies?: readonly string[];
}

const LONGEST_LINE = 400;
const MOST_CLASSES = 20;

/**
 * Reads the heading, and the JSON where that was not cut off.
 *
 * @param data what lies beside the note
 * @returns undefined for a note that no reconciler wrote
 */
export function readNote(text: string, data = ''): ReadNote | undefined {
  const [heading = ''] = text.trimEnd().split('\n');
  const [, outcome, message = ''] = /^[^:]+: ([a-z-]+)(?: \((.*)\))?$/.exec(heading) ?? [];
  if (outcome === undefined) return undefined;
  const read = { outcome, message: plainLine(message, LONGEST_LINE) };
  const note = noteIn(data);
  if (note === undefined) return read;
  const pools = note.pools.filter(isMap);
  const held = pools.flatMap(heldIn);
  return {
    outcome,
    message: typeof note.message === 'string' ? plainLine(note.message, LONGEST_LINE) : read.message,
    pools: pools.map((pool) => `${nameOf(pool)} ${progressOf(pool['counts'])}${classesOf(pool)}`.trimEnd()),
    ...(held.length === 0 ? {} : { heldClasses: held }),
    emergencies: pools.flatMap((pool) =>
      typeof pool['emergency'] === 'string' ? [`${nameOf(pool)}: ${plainLine(pool['emergency'], LONGEST_LINE)}`] : [],
    ),
  };
}

function noteIn(line: string): { readonly pools: readonly unknown[]; readonly message: unknown } | undefined {
  try {
    const note: unknown = JSON.parse(line);
    if (!isMap(note) || note['schema'] !== NOTE_SCHEMA || !Array.isArray(note['pools'])) return undefined;
    return { pools: note['pools'], message: note['message'] };
  } catch {
    return undefined;
  }
}

const nameOf = (pool: Readonly<Record<string, unknown>>): string =>
  typeof pool['name'] === 'string' ? plainLine(pool['name'], 52) : '?';

function progressOf(counts: unknown): string {
  if (!isMap(counts)) return '';
  const { updated, nodes } = counts as { readonly updated?: unknown; readonly nodes?: unknown };
  return typeof updated === 'number' && typeof nodes === 'number' ? `${updated}/${nodes}` : '';
}

type NotedPool = Readonly<Record<string, unknown>>;

const classesIn = ({ classes }: NotedPool): readonly NotedPool[] =>
  Array.isArray(classes) ? classes.slice(0, MOST_CLASSES).filter(isMap) : [];

/** ` in 3 classes`; empty for a pool whose nodes all get the same. */
function classesOf(pool: NotedPool): string {
  const { length } = classesIn(pool);
  return length === 0 ? '' : ` in ${length} class${length === 1 ? '' : 'es'}`;
}

const heldIn = (pool: NotedPool): readonly string[] =>
  classesIn(pool).flatMap(({ name, nodes, config, message }) => {
    if (config !== null || typeof name !== 'string' || typeof nodes !== 'number') return [];
    const why = typeof message === 'string' ? message : '';
    return [plainLine(`${nameOf(pool)}: ${formatClass({ name, nodes, message: why })}`, LONGEST_LINE)];
  });
