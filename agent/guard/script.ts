import { readFile } from 'node:fs/promises';

/** The text of the guard's script. It lies beside this file, and beside the bundle that this file becomes a part of. */
export const readGuardScript = (): Promise<Buffer> => readFile(new URL('./guard.sh', import.meta.url));
