import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, GitopsError } from '#shared/runtime/errors.ts';
import { runInSubprocess } from './subprocess/run-in-subprocess.ts';

/** What git is run with here: nothing of the machine's or the person's configuration. */
export function gitEnvironment(home: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: home,
    LC_ALL: 'C',
    NO_PROXY: '127.0.0.1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    // Each commit would look for garbage, in a process of its own.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'maintenance.auto',
    GIT_CONFIG_VALUE_0: 'false',
  };
}

/**
 * Runs git in a directory and returns what it printed.
 *
 * @throws GitopsError `SANDBOX_GIT_MISSING` without git, `SANDBOX_GIT_FAILED` where git fails
 */
export async function runGit(directory: string, args: readonly string[], input = ''): Promise<string> {
  const program = { file: 'git', args, cwd: directory, env: gitEnvironment(directory), input, timeoutMs: 180_000 };
  const { code, out, err } = await runInSubprocess(program).catch((cause: unknown) => {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    throw new GitopsError(
      'SANDBOX_GIT_MISSING',
      'git is not installed, and the sandbox keeps its config repository with it: install it with the package manager (apt install git, apk add git git-daemon) and start again',
      { cause },
    );
  });
  if (code === 0) return out.toString();
  throw new GitopsError('SANDBOX_GIT_FAILED', `git ${args.join(' ')} ended with ${code}: ${err.toString()}`);
}

/** Path of `git http-backend`; null where this git came without it, as Alpine's does without git-daemon. */
export async function findHttpBackend(execPath?: string): Promise<string | null> {
  const program = join(execPath ?? (await runGit('/', ['--exec-path'])).trim(), 'git-http-backend');
  try {
    await access(program, constants.X_OK);
    return program;
  } catch {
    return null;
  }
}
