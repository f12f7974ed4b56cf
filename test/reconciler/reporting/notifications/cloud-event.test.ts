import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cloudEvent } from '#reconciler/reporting/notifications/cloud-event.ts';
import { AT, COMMIT, notification } from './support.ts';

const context = { cluster: 'demo', runbooksUrl: 'https://git.example.com/runbooks' };

describe('a CloudEvent', () => {
  it('has what version 1.0 demands of every event, and all that is known', () => {
    const told = notification({
      canWait: { answer: 'yes', because: 'nothing gets worse' },
      commit: { commit: COMMIT, subject: 'Tune general', author: 'Ada' },
      runbook: 'docs/runbooks/KubeletGitopsPoolHalted.md',
    });
    assert.deepEqual(cloudEvent('an-id', told, context), {
      specversion: '1.0',
      id: 'an-id',
      source: '/kubelet-gitops/clusters/demo',
      type: 'dev.kubelet-gitops.halted',
      subject: 'pools/web',
      time: AT,
      datacontenttype: 'application/json',
      data: {
        cluster: 'demo',
        severity: 'warning',
        title: 'Pool web is halted',
        pools: ['web'],
        lines: ['web-1 failed on a'],
        canWait: {
          answer: 'yes',
          because: 'nothing gets worse',
          line: 'can this wait? yes: nothing gets worse',
        },
        commit: { commit: COMMIT, subject: 'Tune general', author: 'Ada' },
        runbook: 'https://git.example.com/runbooks/KubeletGitopsPoolHalted.md',
      },
    });
  });

  it('has no subject where it is about the repository or several pools, and counts what it does not name', () => {
    assert.equal(cloudEvent('i', notification({ pools: [] }), context).subject, undefined);
    const { subject, data } = cloudEvent('i', notification({ pools: ['a', 'b'], morePools: 7 }), context);
    assert.equal(subject, undefined);
    assert.equal((data as { readonly morePools: number }).morePools, 7);
  });

  it('names its attributes as the specification lets them be named', () => {
    for (const name of Object.keys(cloudEvent('i', notification(), context))) assert.match(name, /^[a-z0-9]{1,20}$/);
    assert.ok(!Number.isNaN(Date.parse(cloudEvent('i', notification(), context).time)));
    // `notify --cluster` takes any name.
    for (const cluster of ['demo', 'my cluster', 'ä/../b?#']) {
      const { source } = cloudEvent('i', notification(), { ...context, cluster });
      assert.equal(new URL(source, 'https://a.example').href, `https://a.example${source}`);
    }
  });
});
