import { AUDIT_CONFIG_MAP, type AuditSummary, readAuditSummary } from '#shared/contract/audit-summary.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { createInformer } from '#shared/kube/informer.ts';
import { CONFIG_MAPS, type Kube } from '#shared/kube/kube.ts';
import type { ListWatchOptions } from '#shared/kube/list-watch.ts';
import type { Log } from '#shared/runtime/log.ts';

interface AuditViewOptions extends Pick<ListWatchOptions, 'clock' | 'random'> {
  readonly kube: Kube;
  readonly namespace: string;
  readonly log: Log;
}

/** The last audit that was published here. Nothing is decided by it, and nothing waits for it. */
interface AuditView {
  /** null for none, and before the first look. */
  summary(): AuditSummary | null;
  /** Follows until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Of the ConfigMap, which may hold a report of 1 MB, the summary alone stays in memory. */
export function createAuditView(options: AuditViewOptions): AuditView {
  const { namespace, log } = options;
  const { items, run } = createInformer<KubeObject, AuditSummary>({
    ...options,
    selection: { resource: CONFIG_MAPS, namespace, fieldSelector: `metadata.name=${AUDIT_CONFIG_MAP}` },
    project: (object) => readAuditSummary(object) ?? undefined,
    onChange: () => undefined,
    onFault: (error, retryInMs) => log.warn({ err: error, retryInMs }, 'the last audit cannot be read'),
  });
  return { summary: () => items.get(`${namespace}/${AUDIT_CONFIG_MAP}`) ?? null, run };
}
