import { GitServerError } from '#sandbox/git-server/errors.ts';
import type { ObjectLookup, Oid } from '#sandbox/git-server/objects/oid.ts';
import { isOid } from '#sandbox/git-server/objects/oid.ts';
import type { FetchRequest } from '#sandbox/git-server/pack/select-pack.ts';

/** The lines of a fetch, in either version of the protocol, as they were understood. */
export interface FetchArguments {
  readonly request: FetchRequest;
  /** Whether the client wants its pack now, without talking about further haves. */
  readonly done: boolean;
  /** Whether the client waits for its own `done`, even when the server has heard enough. */
  readonly waitForDone: boolean;
  /** Arguments and capabilities without a value, `ofs-delta` or `side-band-64k`. */
  readonly flags: ReadonlySet<string>;
}

/**
 * Reads `want`, `have`, `shallow`, `deepen`, `done` and flags.
 *
 * @throws GitServerError `GIT_REQUEST_REFUSED` for what is not offered or a want that is not here
 */
export function readFetchArguments(lines: readonly string[], lookup: ObjectLookup): FetchArguments {
  const wants: Oid[] = [];
  const haves: Oid[] = [];
  const shallow: Oid[] = [];
  const flags = new Set<string>();
  let depth: number | undefined;
  for (const line of lines) {
    const [word = '', value = '', ...more] = line.split(' ');
    if (word === 'want') {
      wants.push(oidIn(line, value));
      for (const flag of more) flags.add(flag);
    } else if (word === 'have') haves.push(oidIn(line, value));
    else if (word === 'shallow') shallow.push(oidIn(line, value));
    else if (word === 'deepen') depth = depthIn(line, value);
    else if (value === '') flags.add(word);
    else throw new GitServerError('GIT_REQUEST_REFUSED', `the sandbox's git server does not know "${word}"`);
  }
  const absent = wants.find((oid) => lookup(oid) === undefined);
  if (absent !== undefined) throw new GitServerError('GIT_REQUEST_REFUSED', `upload-pack: not our ref ${absent}`);
  const from = flags.has('deepen-relative') ? 'boundary' : 'wants';
  return {
    request: { wants, haves, shallow, deepen: depth === undefined ? undefined : { depth, from } },
    done: flags.has('done'),
    waitForDone: flags.has('wait-for-done'),
    flags,
  };
}

function oidIn(line: string, value: string): Oid {
  if (isOid(value)) return value;
  throw new GitServerError('GIT_REQUEST_MALFORMED', `no object name in "${line.slice(0, 80)}"`);
}

function depthIn(line: string, value: string): number {
  const depth = Number(value);
  if (Number.isInteger(depth) && depth >= 1) return depth;
  throw new GitServerError('GIT_REQUEST_MALFORMED', `no depth in "${line.slice(0, 80)}"`);
}
