import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { fc, forAllAsyncOf } from '../support/property.ts';
import { decodeMessage, encodeMessage } from '#agent/host/dbus/message.ts';
import { createFraming } from '#agent/host/dbus/framing.ts';
import { readGuardNote } from '#agent/guard/guard-records.ts';
import { intentOf } from '#agent/decide/assignment/intent.ts';
import { readAnswer } from '#reconciler/cluster/blockers/prometheus.ts';
import { readNodeNumbers, readOneNumber } from '#reconciler/cluster/blockers/query-numbers.ts';
import { forgeOf } from '#reconciler/reporting/forge/forges.ts';
import { readSourceState } from '#reconciler/reporting/notes/source-state.ts';
import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Call } from '#shared/kube/kube-call.ts';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { objectFrom, pageFrom } from '#shared/kube/parse-objects.ts';
import { refusalError, watchError } from '#shared/kube/response-error.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { COMMIT_A } from '../support/fleet.ts';
import { damaged, grafted, hostileJson, survives } from './support/hostile.ts';
import { A } from '../support/agent/states.ts';

const RUNS = 1_000;
const call: Call = { verb: 'list', resource: KUBELET_NODES };
const OBJECT = {
  apiVersion: 'kubelet-gitops.dev/v1alpha1',
  kind: 'KubeletNode',
  metadata: { name: 'a', uid: 'u', resourceVersion: '7' },
};

describe('answers of an API server', () => {
  it('are objects, pages and refusals, or an error that says that they are none', async () => {
    const page = { kind: 'KubeletNodeList', metadata: { resourceVersion: '9', continue: 'x' }, items: [OBJECT] };
    const status = {
      kind: 'Status',
      status: 'Failure',
      message: 'no',
      reason: 'Forbidden',
      code: 403,
      details: { name: 'a', causes: [{ message: 'm', field: 'f' }], retryAfterSeconds: 1 },
    };
    await forAllAsyncOf(
      RUNS,
      fc.oneof(grafted(OBJECT), grafted(page), grafted(status), hostileJson),
      fc.integer({ min: 100, max: 999 }),
      async (body, code) => {
        const object = await survives(() => objectFrom(call, body));
        if (!(object instanceof GitopsError)) assert.equal(typeof object.metadata.name, 'string');
        const list = await survives(() => pageFrom(call, body));
        if (!(list instanceof GitopsError)) assert.ok(Array.isArray(list.items));
        const refused = await survives(() => refusalError(call, { status: code, body, retryAfter: String(code) }, 0));
        assert.ok(refused instanceof GitopsError);
        assert.ok(refused.disposition.kind !== 'wait' || refused.disposition.ms <= 300_000);
        await survives(() => watchError(call, body));
      },
    );
  });

  it('of a record that somebody wrote over are read or passed over', async () => {
    const record = {
      metadata: { name: SOURCE_NAME },
      status: { commit: COMMIT_A, history: '[]', policy: '{}', findings: '[]', refused: { commit: COMMIT_A } },
    };
    const texts = grafted(record).map((object) => JSON.parse(JSON.stringify(object ?? null)) as KubeletSource);
    await forAllAsyncOf(RUNS, texts, async (object) => void (await survives(() => readSourceState(object))));
  });
});

describe('answers of Prometheus and of forges', () => {
  it('never let a node begin unless Prometheus says plainly that nothing fires', async () => {
    const quiet = { status: 'success', data: { resultType: 'vector', result: [] } };
    const spec = { url: 'http://prometheus:9090', alerts: ['Burning'] };
    assert.equal(readAnswer(spec, 200, JSON.stringify(quiet)).quiet, true);
    const firing = {
      status: 'success',
      data: { resultType: 'vector', result: [{ metric: { alertname: 'Burning' }, value: [0, '1'] }] },
    };
    await forAllAsyncOf(RUNS, fc.oneof(grafted(quiet), grafted(firing), hostileJson), async (body) => {
      const answer = await survives(() => readAnswer(spec, 200, JSON.stringify(body) ?? ''));
      assert.ok(!(answer instanceof GitopsError));
      if (!answer.quiet) return assert.notEqual(answer.because, '');
      const said = body as { readonly status: string; readonly data: { readonly result: readonly unknown[] } };
      assert.deepEqual([said.status, said.data.result.length], ['success', 0]);
    });
  });

  it('never are a number for a canary unless Prometheus says plainly which', async () => {
    const node = {
      status: 'success',
      data: { resultType: 'vector', result: [{ metric: { node: 'a' }, value: [0, '1'] }] },
    };
    const one = { status: 'success', data: { resultType: 'scalar', result: [0, '1'] } };
    await forAllAsyncOf(RUNS, fc.oneof(grafted(node), grafted(one), hostileJson), async (body) => {
      const text = JSON.stringify(body) ?? '';
      const numbers = await survives(() => readNodeNumbers('node', 200, text));
      assert.ok(!(numbers instanceof GitopsError));
      if ('missing' in numbers) assert.notEqual(numbers.missing, '');
      else for (const each of numbers.values()) assert.ok(typeof each === 'string' || (each >= 0 && each < Infinity));
      const number = await survives(() => readOneNumber(200, text));
      assert.ok(!(number instanceof GitopsError));
      if ('missing' in number) assert.notEqual(number.missing, '');
      else assert.ok(Number.isFinite(number.value) && (body as typeof one).status === 'success');
    });
  });

  it('of a forge are statuses or nothing', async () => {
    const listed = [
      {
        context: 'kubelet-gitops/demo',
        name: 'kubelet-gitops/demo',
        state: 'success',
        status: 'success',
        description: 'd',
        target_url: null,
        id: 1,
      },
    ];
    const forges = (['github', 'gitlab', 'gitea'] as const).map((kind) =>
      forgeOf(kind, { api: 'https://f/api', repository: 'a/b' }, () => 't'),
    );
    await forAllAsyncOf(
      RUNS,
      fc.oneof(grafted(listed), grafted({ statuses: listed, state: 'success' }), hostileJson),
      async (body) => {
        for (const forge of forges) await survives(() => forge.read(body));
      },
    );
  });
});

describe('what an agent reads', () => {
  it('of its assignment is an order or the reason why it is none', async () => {
    const spec = {
      pool: 'workers',
      configSource: A.source,
      apply: 'overlay',
      trial: { duration: '10m', startTimeout: '1m', maxRestarts: 2 },
    };
    await forAllAsyncOf(RUNS, grafted({ ...OBJECT, spec }), async (node) => {
      if (typeof node !== 'object' || node === null) return;
      const intent = await survives(() => intentOf(node as KubeletNode));
      assert.ok(!(intent instanceof GitopsError));
      if (intent.intent !== 'config') return;
      const { source, pool, trial } = intent.config;
      // What becomes a path on the node's disk.
      for (const part of [source.name, source.uid, source.resourceVersion, source.key]) assert.match(part, /^[-.\w]+$/);
      assert.ok(pool === undefined || typeof pool === 'string');
      assert.ok(trial.durationMs >= 0 && trial.maxRestarts >= 0);
    });
  });

  it('of the kubelet’s /configz, of the guard’s note and of the bus breaks nothing', async () => {
    const payload = {
      maxPods: 100,
      evictionHard: { 'memory.available': '1Gi' },
      nodeStatusUpdateFrequency: '10s',
      authentication: { x509: { clientCAFile: 'a' } },
    };
    const message = encodeMessage({
      kind: 'return',
      serial: 1,
      replySerial: 2,
      signature: 's',
      body: ['path'],
    });
    await forAllAsyncOf(
      RUNS,
      grafted(payload),
      damaged(Buffer.from('starts 3 yes 2026-11-21T00:00:00Z\n')),
      damaged(message),
      async (running, note, bytes) => {
        if (typeof running === 'object' && running !== null) {
          await survives(() => contradictions(payload, running as Record<string, unknown>, 'v1.34.0'));
        }
        await survives(() => readGuardNote(note));
        await survives(() => decodeMessage(bytes));
        await survives(() => createFraming());
      },
    );
  });
});
