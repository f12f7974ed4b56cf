import { isKubeError } from '#shared/kube/kube-error.ts';
import { type Kube, KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import { type Millis, systemClock, toTimestamp } from '#shared/runtime/clock.ts';
import { conditionsAt } from './node-object.ts';

/** Every Node and every KubeletNode gives a sign of life once in `everyMs`, one node after the other, evenly. */
export async function beat(kube: Kube, names: readonly string[], everyMs: Millis, signal: AbortSignal): Promise<void> {
  const begun = systemClock.monotonic();
  for (let count = 0; !signal.aborted; count += 1) {
    const dueMs = begun + (count * everyMs) / names.length;
    if (dueMs > systemClock.monotonic()) await systemClock.sleep(dueMs - systemClock.monotonic(), signal);
    const name = names[count % names.length];
    if (name === undefined || signal.aborted) return;
    await beatOnce(kube, name);
  }
}

async function beatOnce(kube: Kube, name: string): Promise<void> {
  const at = toTimestamp(systemClock.now());
  const how = { subresource: 'status' } as const;
  try {
    await kube.mergePatch({ resource: NODES }, name, { status: { conditions: conditionsAt(at) } }, how);
    await kube.mergePatch({ resource: KUBELET_NODES }, name, { status: { heartbeat: at } }, how);
  } catch (error) {
    // The next one comes anyway.
    if (!isKubeError(error)) throw error;
  }
}
