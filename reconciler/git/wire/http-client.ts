import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { GitError } from '../errors.ts';
import { assertWhole, readPackets } from './pkt-line.ts';
import { throwRemoteError } from './remote-error.ts';
import type { GitService, GitSession } from './session.ts';

/**
 * A session as isomorphic-git's `http`. The library sees only answers that are whole and free of error messages, which
 * it would otherwise take for success, and never sees the credential.
 */
export function httpClientOf(session: GitSession): HttpClient {
  async function answerTo(request: GitHttpRequest): Promise<Uint8Array> {
    const { service, version, isGreeting } = read(request);
    if (isGreeting) return (await session.greet(service, version)).body;
    const body = await bytesOf(request.body);
    const answer = await session.post(service, body, { version, maxBytes: session.limits.advertisementBytes });
    const packets = readPackets(answer);
    throwRemoteError(packets, session.clean);
    assertWhole(packets);
    return answer;
  }

  return {
    async request(request): Promise<GitHttpResponse> {
      const { service, isGreeting } = read(request);
      const body = await answerTo(request);
      return {
        url: request.url,
        method: request.method ?? 'GET',
        statusCode: 200,
        statusMessage: 'OK',
        headers: { 'content-type': `application/x-${service}-${isGreeting ? 'advertisement' : 'result'}` },
        body: once(body),
      };
    },
  };
}

interface Understood {
  readonly service: GitService;
  readonly version: 0 | 2;
  /** `GET …/info/refs`; a POST to the service otherwise. */
  readonly isGreeting: boolean;
}

function read(request: GitHttpRequest): Understood {
  const service = /git-(?:upload|receive)-pack$/.exec(request.url)?.[0];
  if (service !== 'git-upload-pack' && service !== 'git-receive-pack') {
    throw new GitError('GIT_NOT_GIT', 'isomorphic-git asked for something that is no service of git');
  }
  const version = request.headers?.['Git-Protocol'] === 'version=2' ? 2 : 0;
  return { service, version, isGreeting: request.method === 'GET' };
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
