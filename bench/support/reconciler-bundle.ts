import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../scripts/build.ts';

/** Bundles the reconciler as it ships into a directory that is there until `act` ends. */
export async function withReconcilerBundle<T>(act: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bench-'));
  try {
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    await bundle('reconciler', directory);
    return await act(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
