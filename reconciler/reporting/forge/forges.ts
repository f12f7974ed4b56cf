import { mapOf } from '#shared/runtime/maps.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import type { CommitStatus, StatusState } from './commit-status.ts';

export type ForgeKind = 'github' | 'gitlab' | 'gitea';

/** Where the statuses go. */
export interface ForgeApi {
  /** Base of the REST API, no slash at its end: `https://api.github.com`. */
  readonly api: string;
  /** `owner/name`; on GitLab with all its groups. */
  readonly repository: string;
}

export interface ForgeRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** One status as the forge has it: in its own words, because only equality counts. */
interface PostedStatus {
  readonly context: string;
  readonly state: string;
  readonly description: string;
}

/** How one kind of forge is spoken to. Pure: makes requests and reads answers, sends nothing. */
export interface Forge {
  /** The forge's word. */
  word(state: StatusState): string;
  /** Whether the forge takes the same state with another description. */
  readonly describesAnew: (state: StatusState) => boolean;
  post(commit: CommitOid, status: CommitStatus, link: string | undefined): ForgeRequest;
  /** @param page from 1; `PAGE` statuses each */
  list(commit: CommitOid, page: number): ForgeRequest;
  /** The newest status of each context. undefined where the answer is something else. */
  read(answer: unknown): readonly PostedStatus[] | undefined;
  /** Whether a refusal says that the status stands there already. */
  stands(message: string): boolean;
}

/** What Gitea hands out at most, by default; the others more. */
export const PAGE = 50;

const query = (page: number, size: 'per_page' | 'limit'): string => `?${size}=${PAGE}&page=${page}`;

/** @param token as it is now; it is read for each request */
export function forgeOf(kind: ForgeKind, place: ForgeApi, token: () => string): Forge {
  switch (kind) {
    case 'github':
      return github(place, token);
    case 'gitlab':
      return gitlab(place, token);
    case 'gitea':
      return gitea(place, token);
  }
}

/** What GitHub's API and the one that Gitea made after it have in common. */
interface GithubLike {
  readonly superseded: string;
  readonly headers: () => Readonly<Record<string, string>>;
  readonly pageSize: 'per_page' | 'limit';
  /** Key of a status's state in answers. */
  readonly state: string;
}

function githubLike({ api, repository }: ForgeApi, { superseded, headers, pageSize, state: key }: GithubLike): Forge {
  const word = (state: StatusState): string => (state === 'superseded' ? superseded : state);
  return {
    word,
    describesAnew: () => true,
    post: (commit, { context, state, description }, link) => ({
      method: 'POST',
      url: `${api}/repos/${repository}/statuses/${commit}`,
      headers: headers(),
      body: { state: word(state), context, description, ...(link === undefined ? {} : { target_url: link }) },
    }),
    list: (commit, page) => ({
      method: 'GET',
      url: `${api}/repos/${repository}/commits/${commit}/status${query(page, pageSize)}`,
      headers: headers(),
    }),
    read(answer) {
      const statuses = mapOf(answer)['statuses'];
      // Gitea has null for a commit without any.
      return statusesIn(statuses === null ? [] : statuses, 'context', key);
    },
    stands: () => false,
  };
}

/** docs.github.com: REST API, commit statuses. */
function github(place: ForgeApi, token: () => string): Forge {
  const headers = () => ({
    authorization: `Bearer ${token()}`,
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
  });
  return githubLike(place, { superseded: 'error', headers, pageSize: 'per_page', state: 'state' });
}

/** docs.gitlab.com: Commits API, "set commit pipeline status". A pending status cannot be posted again. */
function gitlab({ api, repository }: ForgeApi, token: () => string): Forge {
  const words = { pending: 'pending', success: 'success', failure: 'failed', superseded: 'canceled' } as const;
  const project = `${api}/projects/${encodeURIComponent(repository)}`;
  const headers = () => ({ 'private-token': token(), accept: 'application/json' });
  return {
    word: (state) => words[state],
    describesAnew: (state) => state !== 'pending',
    post: (commit, { context, state, description }, link) => ({
      method: 'POST',
      url: `${project}/statuses/${commit}`,
      headers: headers(),
      body: { state: words[state], name: context, description, ...(link === undefined ? {} : { target_url: link }) },
    }),
    list: (commit, page) => ({
      method: 'GET',
      url: `${project}/repository/commits/${commit}/statuses${query(page, 'per_page')}`,
      headers: headers(),
    }),
    read: (answer) => statusesIn(answer, 'name', 'status'),
    stands: (message) => /cannot transition status via/i.test(message),
  };
}

/** docs.gitea.com and forgejo.org: `/repos/{owner}/{repo}/statuses/{sha}`. */
function gitea(place: ForgeApi, token: () => string): Forge {
  const headers = () => ({ authorization: `token ${token()}`, accept: 'application/json' });
  return githubLike(place, { superseded: 'warning', headers, pageSize: 'limit', state: 'status' });
}

function statusesIn(list: unknown, context: string, state: string): readonly PostedStatus[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((entry: unknown) => {
    const [is, what, description] = [mapOf(entry)[state], mapOf(entry)[context], mapOf(entry)['description']];
    if (typeof is !== 'string' || typeof what !== 'string') return [];
    return [{ context: what, state: is, description: typeof description === 'string' ? description : '' }];
  });
}
