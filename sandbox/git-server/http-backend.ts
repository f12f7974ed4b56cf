import type { IncomingMessage } from 'node:http';
import { gitEnvironment } from './git-program.ts';
import { runInSubprocess } from './subprocess/run-in-subprocess.ts';

export interface BackendAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The repository's name in its root. */
export const REPOSITORY = 'config.git';

/** All that git's smart protocol asks for; nothing else in the root can be reached. */
const PATHS: ReadonlySet<string> = new Set(
  ['info/refs', 'git-upload-pack', 'git-receive-pack'].map((name) => `/${REPOSITORY}/${name}`),
);
const NOT_FOUND: BackendAnswer = { status: 404, headers: {}, body: Buffer.from('only git clients are answered\n') };

/**
 * What `git http-backend` answers a request for the repository in `root`: one CGI call (RFC 3875).
 *
 * @param body all of the request's, as it came
 */
export async function callHttpBackend(
  program: string,
  root: string,
  { url = '', method, headers: asked }: Pick<IncomingMessage, 'url' | 'method' | 'headers'>,
  body: Buffer,
): Promise<BackendAnswer> {
  const [path = '', query = ''] = url.split('?');
  if (!PATHS.has(path)) return NOT_FOUND;
  const { out: output } = await runInSubprocess({
    file: program,
    args: [],
    env: {
      ...gitEnvironment(root),
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: method,
      CONTENT_TYPE: asked['content-type'] ?? '',
      CONTENT_LENGTH: String(body.length),
      HTTP_CONTENT_ENCODING: asked['content-encoding'] ?? '',
      GIT_PROTOCOL: String(asked['git-protocol'] ?? ''),
      REMOTE_USER: 'sandbox',
      REMOTE_ADDR: '127.0.0.1',
    },
    input: body,
    timeoutMs: 600_000,
  });
  const blank = output.indexOf('\r\n\r\n');
  const lines = output.toString('latin1', 0, Math.max(0, blank)).split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]));
  const { Status: status, ...rest } = headers;
  // Without a head it was killed.
  return blank < 0
    ? { status: 500, headers: {}, body: Buffer.alloc(0) }
    : { status: Number.parseInt(status ?? '200', 10), headers: rest, body: output.subarray(blank + 4) };
}
