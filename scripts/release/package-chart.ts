import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CHART = 'deploy/helm/kubelet-gitops';
/** What npm gives every file in a package; any fixed time does. */
const TIME = '1985-10-26T08:15:00Z';

/**
 * The chart as an archive that `helm push` and `helm install` take. Helm packs it, so that it is checked; it is packed once more, as
 * Helm dates every file by the clock, and the bytes could not be reproduced.
 *
 * @param helm the program
 * @param target a file that ends in `.tgz`
 */
export async function packageChart(helm: string, target: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-chart-'));
  try {
    run(helm, 'lint', '--strict', CHART);
    run(helm, 'package', CHART, '--destination', directory);
    run('sh', '-c', 'tar --extract --touch --gzip --file "$0"/*.tgz --directory "$0"', directory);
    const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
    const order = ['--format=ustar', '--sort=name', `--mtime=${TIME}`];
    const packed = ['--use-compress-program', 'gzip --no-name -9', '--file', target];
    run('tar', '--create', ...order, ...owner, ...packed, '--directory', directory, 'kubelet-gitops');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** @throws with the program's output if it fails */
const run = (program: string, ...argv: readonly string[]): void => void execFileSync(program, argv, { stdio: 'pipe' });
