import { execFile } from 'node:child_process';

export interface KubectlResult {
  readonly stdout: string;
  readonly stderr: string;
  /** -1 where it was ended by a signal or did not start. */
  readonly code: number;
}

export interface KubectlCall {
  readonly kubectl: string;
  readonly args: readonly string[];
  /** Its standard input. */
  readonly input: string;
  /** Where it keeps its discovery cache. */
  readonly home: string;
}

/** Runs kubectl for three minutes at most; resolves whatever the exit code. */
export function runKubectl({ kubectl, args, input, home }: KubectlCall): Promise<KubectlResult> {
  return new Promise((resolve) => {
    const options = { env: { HOME: home, PATH: process.env['PATH'] }, timeout: 180_000, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(kubectl, args, options, (error, stdout, stderr) => {
      resolve({ stdout, stderr, code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1 });
    });
    child.stdin?.on('error', () => {
      // kubectl that fails early does not read its input; its exit code tells.
    });
    child.stdin?.end(input);
  });
}
