import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { startDaemon } from '../../cluster/support/daemon.ts';
import { freePorts } from '../../cluster/support/free-ports.ts';
import { goProgram } from '../../support/go-program.ts';
import { until } from '../../support/until.ts';

export const GITEA = goProgram(
  'gitea',
  'gitea',
  'nothing proves that a real forge and the reconciler understand each other',
);

const MODULE = join(import.meta.dirname, '..', '..', 'support', 'go-programs', 'gitea');

export interface Answer {
  readonly status: number;
  /** The body's JSON; its text where it is none. */
  readonly body: unknown;
}

/** A real Gitea with a database of its own. It listens on 127.0.0.1 only, and its pages have no style sheets. */
export interface Gitea {
  readonly url: string;
  /** `http://127.0.0.1:PORT/api/v1` */
  readonly api: string;
  /** Where the repository lies on the disk of the forge, for its administrator's hooks. */
  readonly repositoryDirectory: (owner: string, name: string) => string;
  /** Makes an account. @returns a token with all rights of it */
  readonly account: (name: string) => string;
  readonly call: (token: string, method: string, path: string, body?: object) => Promise<Answer>;
  readonly stop: () => Promise<void>;
}

export async function startGitea(): Promise<Gitea> {
  const { path: program } = GITEA;
  assert.ok(program !== undefined);
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-gitea-'));
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  await mkdir(join(directory, 'home'));
  const settings = join(directory, 'app.ini');
  await writeFile(settings, settingsOf(directory, port));
  const env = { PATH: process.env['PATH'] ?? '', HOME: join(directory, 'home'), GITEA_WORK_DIR: directory };
  const run = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(program, [...args, '--config', settings], { env, encoding: 'utf8' });
    assert.equal(status, 0, `gitea ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout.trim();
  };
  run('migrate');
  const server = startDaemon({
    name: 'gitea',
    command: program,
    args: ['web', '--config', settings],
    env,
    logFile: join(directory, 'gitea.log'),
  });
  const stop = async (): Promise<void> => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
  const call = async (token: string, method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text,
    };
  };
  try {
    const isUp = async (): Promise<boolean> => (await fetch(`${url}/api/healthz`)).ok;
    await until('gitea', isUp, { everyMs: 200, hopeless: server.ended, evidence: server.logTail });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    api: `${url}/api/v1`,
    repositoryDirectory: (owner, name) => join(directory, 'repositories', owner, `${name}.git`),
    account(name) {
      const who = ['--username', name];
      const made = ['--email', `${name}@example.com`, '--random-password', '--must-change-password=false'];
      run('admin', 'user', 'create', ...who, ...made);
      return run('admin', 'user', 'generate-access-token', ...who, '--scopes', 'all', '--raw');
    },
    call,
    stop,
  };
}

/** Its templates and texts lie in its module; they are not part of the program. */
function staticFiles(): string {
  const answer = execFileSync('go', ['mod', 'download', '-json', 'gitea.dev'], { cwd: MODULE, encoding: 'utf8' });
  return (JSON.parse(answer) as { readonly Dir: string }).Dir;
}

const settingsOf = (directory: string, port: number): string => `
RUN_USER = ${userInfo().username}
RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = http://127.0.0.1:${port}/
STATIC_ROOT_PATH = ${staticFiles()}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = ${join(directory, 'gitea.db')}
[repository]
ROOT = ${join(directory, 'repositories')}
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
SECRET_KEY = of-a-test
PASSWORD_HASH_ALGO = pbkdf2_v1
[webhook]
; Nothing but this machine may be told anything.
ALLOWED_HOST_LIST = loopback
[service]
DISABLE_REGISTRATION = true
[indexer]
ISSUE_INDEXER_TYPE = db
[cron]
ENABLED = false
[actions]
ENABLED = false
[log]
LEVEL = Warn
`;
