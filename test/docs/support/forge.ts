import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Comment {
  readonly id: number;
  readonly login: string;
  body: string;
}

/** The comments of one pull request, behind as much of a forge's API as the template uses. Wrong tokens are refused. */
export interface Forge {
  readonly url: string;
  readonly comments: readonly Comment[];
  /** `GET /…` and the like, in order. */
  readonly calls: string[];
  close(): Promise<void>;
}

interface Kind {
  readonly isAllowed: (request: IncomingMessage) => boolean;
  readonly list: string;
  readonly one: RegExp;
  readonly change: string;
  readonly me?: { readonly path: string; readonly login: string };
  readonly shown: (comment: Comment) => unknown;
}

export const TOKEN = 'token-of-the-job';

const GITHUB: Kind = {
  isAllowed: ({ headers }) => headers.authorization === `Bearer ${TOKEN}`,
  list: '/repos/team/config/issues/7/comments',
  one: /^\/repos\/team\/config\/issues\/comments\/(\d+)$/,
  change: 'PATCH',
  shown: ({ id, login, body }) => ({ id, body, user: { login } }),
};
const GITLAB: Kind = {
  isAllowed: ({ headers }) => headers['private-token'] === TOKEN,
  list: '/projects/12/merge_requests/7/notes',
  one: /^\/projects\/12\/merge_requests\/7\/notes\/(\d+)$/,
  change: 'PUT',
  me: { path: '/user', login: 'bot' },
  shown: ({ id, login, body }) => ({ id, body, author: { id: idOf(login) } }),
};

const idOf = (login: string): number => (login === 'bot' ? 1 : 2);

/** @param others comments of other people that are there already */
export async function startForge(kind: 'github' | 'gitlab', others: readonly string[] = []): Promise<Forge> {
  const { isAllowed, list, one, change, me, shown } = kind === 'github' ? GITHUB : GITLAB;
  const self = kind === 'github' ? 'github-actions[bot]' : 'bot';
  const comments: Comment[] = others.map((body, index) => ({ id: index + 1, login: 'mallory', body }));
  const calls: string[] = [];

  const answer = (request: IncomingMessage, body: string): readonly [number, unknown] => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://forge');
    calls.push(`${request.method} ${pathname}`);
    if (!isAllowed(request)) return [401, { message: 'Bad credentials' }];
    if (me !== undefined && pathname === me.path) return [200, { id: idOf(me.login) }];
    const written = body === '' ? '' : (JSON.parse(body) as { readonly body: string }).body;
    if (pathname === list && request.method === 'GET') {
      const [page, size] = [Number(searchParams.get('page') ?? 1), Number(searchParams.get('per_page') ?? 20)];
      return [200, comments.slice((page - 1) * size, page * size).map(shown)];
    }
    if (pathname === list && request.method === 'POST') {
      const comment = { id: comments.length + 1, login: self, body: written };
      comments.push(comment);
      return [201, shown(comment)];
    }
    const comment = comments.find(({ id }) => String(id) === one.exec(pathname)?.[1]);
    if (comment === undefined || request.method !== change) return [404, { message: 'Not Found' }];
    if (comment.login !== self) return [403, { message: 'Forbidden' }];
    comment.body = written;
    return [200, shown(comment)];
  };

  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const [status, body] = answer(request, Buffer.concat(parts).toString());
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    comments,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
