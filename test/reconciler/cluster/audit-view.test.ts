import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createAuditView } from '#reconciler/cluster/audit-view.ts';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import { AUDIT_CONFIG_MAP, AUDIT_SUMMARY_KEY } from '#shared/contract/audit-summary.ts';
import { CONFIG_MAPS } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { aSandbox } from '../../sandbox/api-server/support/sandbox.ts';
import { until } from '../../support/until.ts';

const NAMESPACE = 'kubelet-gitops';
const PLACE = { resource: CONFIG_MAPS, namespace: NAMESPACE };
const ofAudit = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith('kubelet_gitops_audit_'));

it('follows the audit that is published, into metrics of the leader alone', async () => {
  await using sandbox = await aSandbox();
  const { kube } = sandbox;
  const stop = new AbortController();
  const view = createAuditView({ kube, namespace: NAMESPACE, clock: systemClock, random: () => 0, log: silentLog });
  const running = view.run(stop.signal);
  let leads = true;
  const metrics = createMetrics({ clock: systemClock, ofProcess: false });
  metrics.watch({ isLeader: () => leads, fleet: () => null, pageListeners: () => 0, audit: view.summary });
  const write = (checks: number) => {
    const failed = [{ section: 'safety', severity: 'high', checks }];
    const summary = { at: '2026-11-29T03:00:00Z', nodes: { seen: 1, of: 2 }, failed };
    return { data: { [AUDIT_SUMMARY_KEY]: JSON.stringify(summary) } };
  };
  const configMap = (name: string, checks: number) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    ...write(checks),
  });
  try {
    assert.deepEqual(ofAudit(await metrics.text()), []);
    await kube.create(PLACE, configMap('another', 9));
    await kube.create(PLACE, configMap(AUDIT_CONFIG_MAP, 3));
    await until('the summary', () => view.summary()?.failed[0]?.checks === 3);
    assert.deepEqual(ofAudit(await metrics.text()), [
      'kubelet_gitops_audit_failed_checks{section="safety",severity="high"} 3',
      'kubelet_gitops_audit_timestamp_seconds 1795921200',
    ]);
    await kube.mergePatch(PLACE, AUDIT_CONFIG_MAP, write(0));
    await until('the next', () => view.summary()?.failed[0]?.checks === 0);
    leads = false;
    assert.deepEqual(ofAudit(await metrics.text()), []);
    leads = true;
    // What cannot be understood is no audit, and not the one before.
    await kube.mergePatch(PLACE, AUDIT_CONFIG_MAP, { data: { [AUDIT_SUMMARY_KEY]: '{' } });
    await until('none', () => view.summary() === null);
    assert.deepEqual(ofAudit(await metrics.text()), []);
  } finally {
    stop.abort();
    await running;
  }
});
