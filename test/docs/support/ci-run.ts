import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { COMPILED } from '../../support/compiled.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
}

/** Runs a script as a runner does; never rejects. */
export function runScript(
  shell: readonly [string, ...string[]],
  script: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  const [command, ...options] = shell;
  return new Promise((done) => {
    execFile(command, [...options, '-c', script], { cwd, env, timeout: 600_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 128;
      done({ code, out: `${stdout}${stderr}` });
    });
  });
}

/** A directory for one job, with a git that knows nothing of this machine and a `node` that can run the command line. */
export interface Workspace {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  git(...argv: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

/** @param programs names and texts of programs that stand in for those of a runner */
export async function createWorkspace(programs: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-ci-'));
  const bin = join(directory, 'bin');
  await mkdir(bin);
  await symlink(process.execPath, join(bin, 'node'));
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(bin, name), text);
    await chmod(join(bin, name), 0o755);
  }
  const env = {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: directory,
    ...COMPILED,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.org',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.org',
    // The same merge is the same commit, as on a forge.
    GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z',
    GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z',
  };
  const git = async (...argv: readonly string[]): Promise<string> => {
    const { code, out } = await runScript(['bash', '-e'], `git ${argv.map(quote).join(' ')}`, directory, env);
    if (code !== 0) throw new Error(`git ${argv.join(' ')}: ${out}`);
    return out.trim();
  };
  return { directory, env, git, remove: () => rm(directory, { recursive: true, force: true }) };
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Branch `main` with the template, and `change` with other files on top of it: a repository as the forge has it. */
export async function createOrigin(
  workspace: Workspace,
  change: Readonly<Record<string, string>>,
): Promise<{ readonly origin: string; readonly base: string; readonly head: string }> {
  const origin = join(workspace.directory, 'origin');
  await cp('config-repo-template', origin, { recursive: true });
  const git = (...argv: readonly string[]) => workspace.git('-C', origin, ...argv);
  await git('init', '--quiet', '--initial-branch', 'main');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'Start');
  const base = await git('rev-parse', 'HEAD');
  await git('switch', '--quiet', '--create', 'change');
  await commitFiles(workspace, origin, change);
  return { origin, base, head: await git('rev-parse', 'HEAD') };
}

/** Commits files on the branch that is checked out; null deletes one. */
export async function commitFiles(
  workspace: Workspace,
  repository: string,
  files: Readonly<Record<string, string | null>>,
): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    if (text === null) {
      await rm(join(repository, path));
      continue;
    }
    await mkdir(dirname(join(repository, path)), { recursive: true });
    await writeFile(join(repository, path), text);
  }
  await workspace.git('-C', repository, 'add', '--all');
  await workspace.git('-C', repository, 'commit', '--quiet', '--message', 'Change');
}
