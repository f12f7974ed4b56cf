import type { FollowedRepository } from '#reconciler/git/following/followed-repository.ts';
import { GitError } from '#reconciler/git/errors.ts';
import type { Annotator } from '#reconciler/git/notes/annotator.ts';
import type { GitSource } from '#reconciler/git/source-port.ts';
import type { CommitOid, Lineage, Snapshot } from '#reconciler/policy/commit-snapshot.ts';
import type { Follows, LoadedPool, LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { LineCommit } from '#reconciler/policy/following/choose-commit.ts';
import { commit as commitOf } from '../fleet.ts';

/** A repository in memory: a line of commits, and notes as a git server keeps them. */
export interface Repository {
  readonly source: GitSource;
  /** A client that pushes notes; an equal note is not pushed again, as with the real one. */
  annotatorOf(identity: string): Annotator;
  commit(...pools: readonly LoadedPool[]): CommitOid;
  /** The same with all that the files of a commit say. */
  commitRepo(repo: LoadedRepo): CommitOid;
  load(snapshot: Snapshot): LoadedRepo;
  /** Every note that was changed by a push, in order. */
  readonly pushes: readonly { readonly by: string; readonly commit: CommitOid; readonly text: string }[];
  readonly notes: ReadonlyMap<CommitOid, string>;
  /** Commits whose place on the notes ref cannot be read, and how that fails. */
  readonly unreadableNotes: Map<CommitOid, GitError>;
  /** What other clusters say of commits, by cluster. */
  readonly others: Map<string, Map<CommitOid, string>>;
  readonly followed: FollowedRepository;
  /** Whether the server does not answer. */
  isAway: boolean;
  /** What its cluster's file says from the next commit on; null for nobody. */
  follows: Follows | null;
}

/** @param stood the notes that stand there already */
export function createRepository(stood: ReadonlyMap<CommitOid, string> = new Map()): Repository {
  const line: { readonly oid: CommitOid; readonly repo: LoadedRepo }[] = [];
  const notes = new Map(stood);
  const unreadableNotes = new Map<CommitOid, GitError>();
  const others: Repository['others'] = new Map();
  const lined = ({ oid, repo }: (typeof line)[number]): LineCommit => ({ oid, tree: JSON.stringify(repo) });
  const pushes: { by: string; commit: CommitOid; text: string }[] = [];
  const tip = (): CommitOid => line.at(-1)?.oid ?? '';
  const lineageOf = (since: CommitOid | null): Lineage => {
    if (since === null) return 'first';
    if (since === tip()) return 'same';
    return line.some(({ oid }) => oid === since) ? 'descendant' : 'rewritten';
  };
  const commitRepo = (repo: LoadedRepo): CommitOid => {
    const oid = (line.length + 1).toString(16).padStart(40, '0');
    line.push({ oid, repo });
    return oid;
  };
  const repository: Repository = {
    others,
    follows: null,
    isAway: false,
    followed: {
      line: (inForce) => {
        const at = line.findIndex(({ oid }) => oid === inForce);
        const commits = line.slice(at + 1).map(lined);
        const present = line[at];
        if (present === undefined) throw new Error(`there is no commit ${inForce}`);
        return Promise.resolve({ inForce: lined(present), commits, isRewritten: false });
      },
      notes: (cluster) =>
        Promise.resolve({ said: new Map(others.get(cluster)), signed: null, distrusted: null, payloads: null }),
    },
    source: {
      url: 'https://git.example/repo.git',
      branch: 'main',
      resolve: () =>
        repository.isAway
          ? Promise.reject(new GitError('GIT_UNREACHABLE', 'the server is away'))
          : Promise.resolve(tip()),
      snapshot: (since) => Promise.resolve(snapshotOf(tip(), lineageOf(since))),
      earlier: (oid) => Promise.resolve(line.some((each) => each.oid === oid) ? snapshotOf(oid, 'same') : null),
    },
    annotatorOf: (by) => ({
      ref: 'refs/notes/kubelet-gitops/demo',
      annotate(batch) {
        const unreadable = new Map([...unreadableNotes].filter(([commit]) => batch.has(commit)));
        const texts = [...batch].map(
          ([commit, content]) => [commit, typeof content === 'string' ? content : content.text] as const,
        );
        const changed = texts.filter(([commit, text]) => notes.get(commit) !== text && !unreadable.has(commit));
        for (const [commit, text] of changed) {
          notes.set(commit, text);
          pushes.push({ by, commit, text });
        }
        return Promise.resolve({ written: changed.length > 0, unreadable });
      },
    }),
    commit(...pools) {
      const { repo } = commitOf('', ...pools);
      const { follows } = repository;
      // Stories change all of their pools at once.
      return commitRepo({ ...repo, cluster: { ...repo.cluster, maxChange: '100%', follows } });
    },
    commitRepo,
    load({ commit }) {
      const found = line.find(({ oid }) => oid === commit.oid);
      if (found === undefined) throw new Error(`there is no commit ${commit.oid}`);
      return found.repo;
    },
    pushes,
    notes,
    unreadableNotes,
  };
  return repository;
}

function snapshotOf(oid: CommitOid, lineage: Lineage): Snapshot {
  const author = { name: 'A', email: 'a@example.com', at: '2026-01-01T00:00:00Z' };
  return {
    commit: { oid, parents: [], author, subject: `Commit ${Number.parseInt(oid, 16)}`, raw: new Uint8Array() },
    lineage,
    files: new Map(),
    findings: [],
  };
}
