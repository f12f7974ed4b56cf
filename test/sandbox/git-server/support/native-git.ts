import { gitEnvironment } from '#sandbox/git-server/git-program.ts';
import { runInSubprocess } from '#sandbox/git-server/subprocess/run-in-subprocess.ts';

export { WITHOUT_GIT } from '../../../support/required-tools.ts';

export interface GitResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The real git in a directory, deaf to the configuration of the machine and of the person who runs the tests. */
export interface NativeGit {
  /** Runs git and throws with its output where it fails. */
  (...args: readonly string[]): Promise<string>;
  /** Runs git and tells how it went. */
  attempt(...args: readonly string[]): Promise<GitResult>;
  /** Like `attempt`, with text on standard input. */
  feed(input: string, ...args: readonly string[]): Promise<GitResult>;
  readonly directory: string;
  /** What it is run with: nothing of the machine's or the person's configuration. */
  readonly environment: NodeJS.ProcessEnv;
}

export function nativeGit(directory: string): NativeGit {
  const env = environmentIn(directory);
  const feed = async (input: string, ...args: readonly string[]): Promise<GitResult> => {
    const { code, out, err } = await runInSubprocess({
      file: 'git',
      args,
      cwd: directory,
      env,
      input,
      timeoutMs: 180_000,
    });
    return { code: code ?? -1, out: out.toString(), err: err.toString() };
  };
  const attempt = (...args: readonly string[]) => feed('', ...args);
  const run = async (...args: readonly string[]): Promise<string> => {
    const result = await attempt(...args);
    if (result.code !== 0)
      throw new Error(`git ${args.join(' ')} ended with ${result.code}:\n${result.err}${result.out}`);
    return result.out.trim();
  };
  return Object.assign(run, { attempt, feed, directory, environment: env });
}

function environmentIn(home: string): NodeJS.ProcessEnv {
  const person = { NAME: 'Ada', EMAIL: 'ada@example.com', DATE: '2026-03-01T12:00:00Z' };
  const named = (role: string) => Object.entries(person).map(([key, value]) => [`GIT_${role}_${key}`, value]);
  return { ...gitEnvironment(home), ...Object.fromEntries([...named('AUTHOR'), ...named('COMMITTER')]) };
}
