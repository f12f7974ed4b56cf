import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ForgeKind } from '#reconciler/reporting/forge/forges.ts';

/** A status as it was posted, in the forge's own words. */
export interface SeenStatus {
  readonly commit: string;
  readonly context: string;
  readonly state: string;
  readonly description: string;
  readonly link: string | null;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

type Answer = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>];

/** A forge as its documentation describes the API of commit statuses: what it takes, what it refuses and with which words. */
export interface ForgeServer {
  readonly origin: string;
  readonly api: string;
  readonly posted: readonly SeenStatus[];
  readonly requests: readonly SeenRequest[];
  /** Instead of the right answer to the next requests, one each. */
  readonly faults: Answer[];
  /** Newest status of each context. */
  latest(commit: string): ReadonlyMap<string, SeenStatus>;
  /** As another program would: a check of CI, say. */
  add(status: SeenStatus): void;
  token: string;
  /** Whether it has this commit. */
  knows: (commit: string) => boolean;
  /** What the token may do. */
  scope: 'write' | 'read';
  close(): Promise<void>;
}

export const REPOSITORY = 'platform/kubelet-config';
export const COMMITS = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)];

const WORDS: Readonly<Record<ForgeKind, readonly string[]>> = {
  github: ['error', 'failure', 'pending', 'success'],
  gitlab: ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'],
  gitea: ['pending', 'success', 'error', 'failure', 'warning'],
};
const PREFIX: Readonly<Record<ForgeKind, string>> = { github: '/api/v3', gitlab: '/api/v4', gitea: '/api/v1' };
/** Of a commit and context, on GitHub. */
const MOST_STATUSES = 1_000;

export async function startForge(kind: ForgeKind): Promise<ForgeServer> {
  const all: SeenStatus[] = [];
  const requests: SeenRequest[] = [];
  const faults: Answer[] = [];

  const server = createServer((request, response) => {
    void serve(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const forge: ForgeServer = {
    origin,
    api: `${origin}${PREFIX[kind]}`,
    posted: all,
    requests,
    faults,
    latest: (commit) => new Map(all.filter((one) => one.commit === commit).map((one) => [one.context, one])),
    add: (status) => void all.push(status),
    token: 'a-token-of-the-forge',
    knows: (commit) => COMMITS.includes(commit),
    scope: 'write',
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return forge;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await collect(request);
    const [status, json, headers] = faults.shift() ?? answer(request, body);
    requests.push({ method: request.method ?? '', path: request.url ?? '', status });
    respond(response, status, json, headers);
  }

  function answer(request: IncomingMessage, body: string): Answer {
    const url = new URL(request.url ?? '', origin);
    if (!authorised(request)) return [401, { message: kind === 'github' ? 'Bad credentials' : '401 Unauthorized' }];
    const project = kind === 'gitlab' ? `/projects/${encodeURIComponent(REPOSITORY)}` : `/repos/${REPOSITORY}`;
    const path = url.pathname.startsWith(`${PREFIX[kind]}${project}/`)
      ? url.pathname.slice(PREFIX[kind].length + project.length)
      : '';
    const posting = /^\/statuses\/([0-9a-f]{40})$/.exec(path)?.[1];
    const listing = /^(?:\/repository)?\/commits\/([0-9a-f]{40})\/status(?:es)?$/.exec(path)?.[1];
    if (request.method === 'POST' && posting !== undefined) return take(posting, body);
    if (request.method === 'GET' && listing !== undefined) return list(listing, url.searchParams);
    return [404, { message: 'Not Found' }];
  }

  function authorised({ headers }: IncomingMessage): boolean {
    if (headers['user-agent'] === undefined) return false;
    if (kind === 'gitlab') return headers['private-token'] === forge.token;
    return headers.authorization === `${kind === 'github' ? 'Bearer' : 'token'} ${forge.token}`;
  }

  function take(commit: string, body: string): Answer {
    if (forge.scope === 'read') {
      const message = kind === 'github' ? 'Resource not accessible by personal access token' : '403 Forbidden';
      return [403, { message }];
    }
    const fields = JSON.parse(body) as Readonly<Record<string, string | undefined>>;
    const context = (kind === 'gitlab' ? fields['name'] : fields['context']) ?? 'default';
    const { state = '', description = '', target_url: link = null } = fields;
    const wrong = complaint(commit, context, state, description);
    if (wrong !== null) return wrong;
    all.push({ commit, context, state, description, link });
    return [201, { context, state, description }];
  }

  function complaint(commit: string, context: string, state: string, description: string): Answer | null {
    if (!forge.knows(commit)) {
      return kind === 'gitlab'
        ? [404, { message: '404 Commit Not Found' }]
        : [422, { message: `No commit found for SHA: ${commit}` }];
    }
    const isWord = WORDS[kind].includes(state);
    switch (kind) {
      case 'github': {
        const refuse = (message: string): Answer => [422, { message: 'Validation Failed', errors: [{ message }] }];
        if (!isWord) return refuse('State is not included in the list');
        if (Array.from(description).length > 140) return refuse('description is too long (maximum is 140 characters)');
        if (context.length > 255) return refuse('context is too long (maximum is 255 characters)');
        const same = all.filter((one) => one.commit === commit && one.context.toLowerCase() === context.toLowerCase());
        return same.length >= MOST_STATUSES
          ? refuse('This SHA and context has reached the maximum number of statuses.')
          : null;
      }
      case 'gitlab': {
        if (!isWord) return [400, { error: 'state does not have a valid value' }];
        if (context.length > 255 || description.length > 255)
          return [400, { message: { name: ['is too long (maximum is 255 characters)'] } }];
        const present = forge.latest(commit).get(context)?.state;
        const event = { pending: 'enqueue', running: 'run' }[state];
        // A status that is over gives way to a new one; one that is under way has its own rules.
        if (event !== undefined && (present === 'pending' || present === 'running') && present === state) {
          const why = `Cannot transition status via :${event} from :${present} (Reason(s): Status cannot transition via "${event}")`;
          return [400, { message: why }];
        }
        return null;
      }
      case 'gitea':
        return isWord ? null : [422, { message: 'invalid state' }];
    }
  }

  function list(commit: string, query: URLSearchParams): Answer {
    if (!forge.knows(commit)) return [404, { message: 'Not Found' }];
    const asked = Number(query.get(kind === 'gitea' ? 'limit' : 'per_page') ?? '20');
    const size = Math.min(asked, kind === 'gitea' ? 50 : 100);
    const from = (Number(query.get('page') ?? '1') - 1) * size;
    const latest = [...forge.latest(commit).values()];
    const page = latest.slice(from, from + size).map(({ context, state, description, link }) => ({
      [kind === 'gitlab' ? 'name' : 'context']: context,
      [kind === 'github' ? 'state' : 'status']: state,
      description,
      target_url: link,
    }));
    if (kind === 'gitlab') return [200, page];
    const none = kind === 'gitea' && page.length === 0;
    return [200, { state: 'pending', sha: commit, total_count: latest.length, statuses: none ? null : page }];
  }
}

function respond(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

async function collect(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
