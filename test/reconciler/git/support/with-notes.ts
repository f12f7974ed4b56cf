import type { TestContext } from 'node:test';
import { systemClock } from '#shared/runtime/clock.ts';
import { type AnnotatorOptions, createAnnotator } from '#reconciler/git/notes/notes-annotator.ts';
import type { Annotator } from '#reconciler/git/notes/annotator.ts';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { PATIENT, start, type Started } from './start.ts';
import { wayTo } from './transport.ts';

export const REF = 'refs/notes/kubelet-gitops/prod-eu-1';

/** A server with a few commits, and what it takes to write notes on them and to look at those. */
export interface WithNotes extends Started {
  annotator(options?: Partial<AnnotatorOptions>): Annotator;
  /** What git shows for a commit; empty where it has no note. */
  note(commit: string): Promise<string>;
  readonly commits: readonly string[];
}

export async function startWithNotes(t: TestContext, commits = 3): Promise<WithNotes> {
  const started = await start(t);
  const oids: string[] = [];
  for (let n = 0; n < commits; n += 1) oids.push(await started.repository.commitFiles({ 'base/a.yaml': `a: ${n}\n` }));
  return {
    ...started,
    commits: oids,
    annotator: (options) =>
      createAnnotator({
        ...wayTo(started.server.url, started.server.git.directory),
        ref: REF,
        credentials: fileCredentials(undefined),
        clock: systemClock,
        random: Math.random,
        limits: PATIENT,
        ...options,
      }),
    note: async (commit) => (await started.server.git.attempt('notes', `--ref=${REF}`, 'show', commit)).out,
  };
}

/** Paths in the notes tree. */
export async function places({ server }: Started): Promise<readonly string[]> {
  return (await server.git('ls-tree', '-r', '--name-only', REF)).split('\n');
}
