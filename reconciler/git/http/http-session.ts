import type { IncomingHttpHeaders } from 'node:http';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { HttpAnswer } from '#shared/http/body.ts';
import { VERSION } from '#shared/runtime/version.ts';
import { type GitCredential, redactCredential } from '../git-credentials.ts';
import { GitError } from '../errors.ts';
import type { GitLimits } from '../git-limits.ts';
import { plainLine } from '../plain-text.ts';
import { readAdvertisement } from '../wire/advertisement.ts';
import type { GitSession, Greeting } from '../wire/git-session.ts';
import type { ProxyAgents } from './connection-agents.ts';
import { type GitRequest, sendGitRequest } from './git-request.ts';
import { withRequestDeadlines } from '../request-deadlines.ts';
import { followRedirect, isRedirect } from './redirect.ts';
import { gitHttpError } from './git-http-error.ts';

interface SessionOptions {
  readonly url: URL;
  readonly credential: GitCredential | null;
  readonly way: ProxyAgents;
  readonly limits: GitLimits;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** From an earlier call. */
  readonly greeting: Greeting | null;
}

const MOST_REDIRECTS = 5;
/** The first line of `info/refs` as `git update-server-info` writes it for web servers that know nothing of git. */
const DUMB = /^[0-9a-f]{40,64}\trefs\//;

export function openSession(options: SessionOptions): GitSession {
  const { url, credential, way, limits, clock, signal } = options;
  const shown = url.href;
  const deadline: Millis = clock.monotonic() + limits.totalMs;
  let greeting = options.greeting;
  let base = greeting?.base ?? url;
  const clean = (text: string): string => redactCredential(text, credential);

  function ask(request: GitRequest): Promise<HttpAnswer> {
    const headers = {
      'user-agent': `git/kubelet-gitops-${VERSION}`,
      // Without it the server may choose any encoding, and packs are packed already.
      'accept-encoding': 'identity',
      ...request.headers,
      // From the first request on: no 401 in between.
      ...(credential === null ? {} : { authorization: credential.authorization }),
    };
    return withRequestDeadlines({ clock, limits, deadline, what: shown, signal }, (patience) =>
      sendGitRequest({ ...request, headers }, way, patience),
    );
  }

  function checked(answer: HttpAnswer, mediaType: string): Buffer {
    if (answer.status !== 200) throw gitHttpError(answer, shown, clean, clock.now());
    const { sent, encoding } = kindOf(answer.headers);
    if (sent === mediaType && encoding === 'identity') return answer.body;
    if (DUMB.test(answer.body.toString('latin1', 0, 60))) {
      throw new GitError(
        'GIT_NOT_GIT',
        `${shown} hands out the files of a repository (git’s “dumb” protocol), which is not read: serve it with git http-backend or a forge`,
      );
    }
    const what = sent === mediaType ? `an answer in ${encoding}, which was not asked for` : plainLine(clean(sent), 80);
    throw new GitError(
      'GIT_NOT_GIT',
      `${shown} does not answer as a git repository, but with ${what}: is the address right?`,
    );
  }

  return {
    url: shown,
    libraryUrl: shown,
    limits,
    clean,
    greeting: () => greeting,
    async greet(service, version) {
      if (version === 2 && greeting?.advertisement.version === 2) return greeting;
      let at = new URL(`${url.href}/info/refs?service=${service}`);
      for (let hop = 0; hop <= MOST_REDIRECTS; hop += 1) {
        const headers = version === 2 ? PROTOCOL_2 : {};
        const answer = await ask({ method: 'GET', url: at, headers, maxBytes: limits.advertisementBytes });
        if (isRedirect(answer.status)) {
          at = followRedirect(at, answer.headers.location);
          continue;
        }
        const body = checked(answer, `application/x-${service}-advertisement`);
        base = new URL(at.href.slice(0, at.href.lastIndexOf('/info/refs')));
        const heard = { base, body, advertisement: readAdvertisement(body, clean) };
        if (service === 'git-upload-pack') greeting = heard;
        return heard;
      }
      throw new GitError('GIT_REDIRECT_REFUSED', `${shown} redirects more than ${MOST_REDIRECTS} times`);
    },
    async post(service, body, { version, maxBytes, take }) {
      const headers = {
        'content-type': `application/x-${service}-request`,
        accept: `application/x-${service}-result`,
        ...(version === 2 ? PROTOCOL_2 : {}),
      };
      const target = new URL(`${base.href}/${service}`);
      const fits = (got: IncomingHttpHeaders): boolean => {
        const { sent, encoding } = kindOf(got);
        return sent === headers.accept && encoding === 'identity';
      };
      const into = take === undefined ? undefined : { take, fits };
      const answer = await ask({ method: 'POST', url: target, headers, body, maxBytes, into });
      if (isRedirect(answer.status)) {
        throw new GitError('GIT_REDIRECT_REFUSED', `${shown} redirects a request with a body, which is not followed`);
      }
      return checked(answer, `application/x-${service}-result`);
    },
  };
}

function kindOf(headers: IncomingHttpHeaders): { readonly sent: string; readonly encoding: string } {
  const [sent = ''] = (headers['content-type'] ?? 'nothing').toLowerCase().split(';');
  return { sent, encoding: headers['content-encoding'] ?? 'identity' };
}

const PROTOCOL_2 = { 'git-protocol': 'version=2' };
