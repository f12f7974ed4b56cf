import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { packageCli } from '../../../scripts/package-cli.ts';

/** The package of the command line, made of this checkout, where runners download it. */
export interface ServedPackage {
  readonly url: string;
  readonly sha256: string;
  /** `Authorization` of each request; undefined where there was none. */
  readonly credentials: readonly (string | undefined)[];
  close(): Promise<void>;
}

export async function servePackage(): Promise<ServedPackage> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-package-'));
  const tarball = await packageCli(join(directory, 'dist'), 'https://example.com/kubelet-gitops.tgz');
  const bytes = await readFile(tarball);
  const credentials: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    credentials.push(request.headers.authorization);
    response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${basename(tarball)}`,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    credentials,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await rm(directory, { recursive: true, force: true });
    },
  };
}
