import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { connectKube } from '#reconciler/cluster/kube/connect-kube.ts';
import { NODES } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { silentLog } from '#shared/runtime/log.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Lists nodes with a kubeconfig, or with what the environment names: what is said where that fails. */
export async function listNodes(kubeconfigPath: string | undefined, env: Env): Promise<string> {
  const clock = systemClock;
  try {
    const kube = await connectKube({ kubeconfigPath, env, clock, log: silentLog, userAgent: 'test' });
    await kube.list({ resource: NODES });
    return '';
  } catch (error) {
    return reasonOf(error);
  }
}

/** The same in a process of its own: Node looks for the authorities of the system only once. */
export async function listNodesElsewhere(kubeconfigPath = '', env: Env): Promise<string> {
  const argv = [import.meta.filename, kubeconfigPath];
  return (await promisify(execFile)(process.execPath, argv, { env })).stdout;
}

if (import.meta.main) process.stdout.write(await listNodes(process.argv[2], process.env));
