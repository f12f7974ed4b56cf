import { plainLine } from '#reconciler/git/plain-text.ts';
import { formatClass } from '#reconciler/reporting/pool-status/class-summary.ts';
import { judge, type NoteFile } from './note-file.generated.js';
import { jsonIn } from '#shared/runtime/lenient.ts';

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

/**
 * Reads the heading, and the JSON where that was not cut off: it says what counts for clusters that follow.
 *
 * @param data what lies beside the note
 * @returns undefined for a note that no reconciler wrote
 */
export function readNote(text: string, data = ''): ReadNote | undefined {
  const [heading = ''] = text.trimEnd().split('\n');
  const [, outcome, message = ''] = /^[^:]+: ([a-z-]{1,64})(?: \((.*)\))?$/.exec(heading) ?? [];
  if (outcome === undefined) return undefined;
  const read = { outcome, message: plainLine(message, LONGEST_LINE) };
  const note = noteIn(data);
  if (note === undefined) return read;
  const held = note.pools.flatMap(heldIn);
  return {
    outcome: note.outcome,
    message: plainLine(note.message, LONGEST_LINE),
    pools: note.pools.map((pool) => `${nameOf(pool)} ${progressOf(pool)}${classesOf(pool)}`.trimEnd()),
    ...(held.length === 0 ? {} : { heldClasses: held }),
    emergencies: note.pools.flatMap((pool) =>
      pool.emergency === null ? [] : [`${nameOf(pool)}: ${plainLine(pool.emergency, LONGEST_LINE)}`],
    ),
  };
}

function noteIn(text: string): NoteFile | undefined {
  const note = jsonIn(text);
  return judge(note) ? (note as NoteFile) : undefined;
}

type NotedPool = NoteFile['pools'][number];

const nameOf = ({ name }: NotedPool): string => plainLine(name, 52);

const progressOf = ({ counts }: NotedPool): string => (counts === null ? '' : `${counts.updated}/${counts.nodes}`);

/** ` in 3 classes`; empty for a pool whose nodes all get the same. */
function classesOf({ classes = [] }: NotedPool): string {
  const { length } = classes;
  return length === 0 ? '' : ` in ${length} class${length === 1 ? '' : 'es'}`;
}

const heldIn = (pool: NotedPool): readonly string[] =>
  (pool.classes ?? []).flatMap(({ name, nodes, config, message }) =>
    config === null ? [plainLine(`${nameOf(pool)}: ${formatClass({ name, nodes, message })}`, LONGEST_LINE)] : [],
  );
