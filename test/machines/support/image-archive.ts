import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

/** Writes an archive that `ctr images import` takes, as `docker save` does: one layer, which is what lies in the directory. */
export async function archiveImage(root: string, name: string, entrypoint: string, archive: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'kubelet-gitops-archive-'));
  const tar = (...args: readonly string[]) => promisify(execFile)('tar', [...args]);
  try {
    const layer = join(work, 'layer.tar');
    await tar('--create', '--file', layer, '--numeric-owner', '--owner=0', '--group=0', '--directory', root, '.');
    const hash = createHash('sha256');
    await pipeline(createReadStream(layer), hash);
    const config = {
      architecture: 'amd64',
      os: 'linux',
      config: { Entrypoint: [entrypoint] },
      rootfs: { type: 'layers', diff_ids: [`sha256:${hash.digest('hex')}`] },
    };
    await writeFile(join(work, 'config.json'), JSON.stringify(config));
    const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }];
    await writeFile(join(work, 'manifest.json'), JSON.stringify(manifest));
    await mkdir(join(archive, '..'), { recursive: true });
    await tar('--create', '--file', archive, '--directory', work, 'manifest.json', 'config.json', 'layer.tar');
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
