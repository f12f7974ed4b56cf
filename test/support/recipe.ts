import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** In CI nothing is skipped: what is missing is made, and the run fails where it cannot be made. */
export const inCi = (): boolean => ['true', '1'].includes(process.env['CI'] ?? '');

/**
 * Runs a script that makes what tests need; its own output goes to standard error.
 *
 * @returns the path of what it made, which is its last line
 * @throws where it fails
 */
export async function runRecipe(recipe: string, args: readonly string[] = []): Promise<string> {
  const child = spawn(recipe, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const output: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
  const [status] = (await once(child, 'close')) as [number | null];
  const path = output.join('').trimEnd().split('\n').at(-1) ?? '';
  if (status !== 0 || path === '') throw new Error(`${[recipe, ...args].join(' ')} ended with status ${status}`);
  return path;
}
