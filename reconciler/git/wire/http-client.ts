import type { GitHttpRequest, HttpClient } from 'isomorphic-git';
import { GitError } from '../errors.ts';
import { assertWhole, readPackets } from './pkt-line.ts';
import { throwRemoteError } from './remote-error.ts';
import type { GitSession } from './git-session.ts';

const SERVICE = 'git-upload-pack';

/**
 * A session as isomorphic-git's `http`, for questions about refs. The library sees only answers that are whole and free
 * of error messages, which it would otherwise take for success, and never sees the credential.
 */
export function httpClientOf(session: GitSession): HttpClient {
  async function answerTo({ method, headers, body }: GitHttpRequest): Promise<Uint8Array> {
    const version = headers?.['Git-Protocol'] === 'version=2' ? 2 : 0;
    if (method === 'GET') return (await session.greet(SERVICE, version)).body;
    const maxBytes = session.limits.advertisementBytes;
    const answer = await session.post(SERVICE, await bytesOf(body), { version, maxBytes });
    const packets = readPackets(answer);
    throwRemoteError(packets, session.clean);
    assertWhole(packets);
    return answer;
  }

  return {
    async request(request) {
      const { url, method = 'GET' } = request;
      if (!url.endsWith(SERVICE)) {
        throw new GitError('GIT_NOT_GIT', `isomorphic-git asked for something else than ${SERVICE}`);
      }
      const type = `application/x-${SERVICE}-${method === 'GET' ? 'advertisement' : 'result'}`;
      const body = once(await answerTo({ ...request, method }));
      return { url, method, statusCode: 200, statusMessage: 'OK', headers: { 'content-type': type }, body };
    },
  };
}

async function bytesOf(body: GitHttpRequest['body']): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  // The library hands over plain arrays here, whatever its types say.
  if (body !== undefined) for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* once(bytes: Uint8Array): AsyncIterableIterator<Uint8Array> {
  yield bytes;
}
