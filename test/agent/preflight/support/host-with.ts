import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { createHostFiles, type HostFiles } from '#agent/host/host-files.ts';

/** A host that has these files, by absolute path, until the tests around end. */
export async function hostWith(files: Readonly<Record<string, string>>): Promise<HostFiles> {
  const root = await mkdtemp(join(tmpdir(), 'kubelet-gitops-host-'));
  after(() => rm(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return createHostFiles(root);
}
