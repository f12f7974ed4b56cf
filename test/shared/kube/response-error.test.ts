import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Call } from '#shared/kube/kube-call.ts';
import type { KubeErrorCode } from '#shared/kube/kube-error.ts';
import { KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import { isMissingObject, refusalError, watchError } from '#shared/kube/response-error.ts';

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);
const listNodes: Call = { verb: 'list', resource: NODES };
const listKnodes: Call = { verb: 'list', resource: KUBELET_NODES };
const said = (reason: string, message: string, more: object = {}): unknown => ({
  kind: 'Status',
  reason,
  message,
  ...more,
});

const codes: readonly (readonly [status: number, body: unknown, code: KubeErrorCode])[] = [
  [400, said('BadRequest', 'no'), 'KUBE_INVALID'],
  [401, said('Unauthorized', 'Unauthorized'), 'KUBE_UNAUTHORIZED'],
  [403, said('Forbidden', 'no'), 'KUBE_FORBIDDEN'],
  [404, said('NotFound', 'no', { details: { name: 'a' } }), 'KUBE_NOT_FOUND'],
  [405, undefined, 'KUBE_INVALID'],
  [409, said('AlreadyExists', 'no'), 'KUBE_ALREADY_EXISTS'],
  [409, said('Conflict', 'no'), 'KUBE_CONFLICT'],
  [410, said('Gone', 'no'), 'KUBE_GONE'],
  [410, undefined, 'KUBE_GONE'],
  [413, undefined, 'KUBE_INVALID'],
  [415, undefined, 'KUBE_INVALID'],
  [422, said('Invalid', 'no'), 'KUBE_INVALID'],
  [429, said('TooManyRequests', 'no'), 'KUBE_THROTTLED'],
  [500, said('InternalError', 'no'), 'KUBE_SERVER_ERROR'],
  [503, undefined, 'KUBE_SERVER_ERROR'],
  [504, said('Timeout', 'no'), 'KUBE_SERVER_ERROR'],
  [302, undefined, 'KUBE_GARBLED'],
];

const waits: readonly (readonly [what: string, status: number, retryAfter: string | undefined, ms: number | null])[] = [
  ['seconds', 429, '7', 7000],
  ['seconds of a server that starts', 503, ' 2 ', 2000],
  ['a date', 429, 'Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
  ['a date that has passed', 429, 'Thu, 01 Jan 2026 11:00:00 GMT', 0],
  ['a day, which is too long to be obeyed', 429, '86400', 300_000],
  ['nothing to be understood', 429, 'soon', null],
  ['nothing', 429, undefined, null],
  ['seconds with a refusal that time does not heal', 403, '7', null],
];

describe('a refusal', () => {
  for (const [status, body, code] of codes) {
    it(`${status} ${JSON.stringify(body ?? 'without a Status')} is ${code}`, () => {
      const error = refusalError(listNodes, { status, body }, NOW);
      assert.equal(error.code, code);
      assert.equal(error.status, status);
      assert.match(error.message, /^cannot list nodes: /);
    });
  }

  for (const [what, status, retryAfter, ms] of waits) {
    it(`${status} with a Retry-After of ${what} ${ms === null ? 'sets no time' : `asks for ${ms} ms`}`, () => {
      const { disposition } = refusalError(listNodes, { status, body: undefined, retryAfter }, NOW);
      assert.deepEqual(disposition, ms === null ? { kind: 'retry' } : { kind: 'wait', ms });
    });
  }

  it('measures a date from the server’s own, whatever our clock says', () => {
    const answer = { status: 429, body: undefined, retryAfter: 'Thu, 01 Jan 2026 12:00:30 GMT' };
    const date = 'Thu, 01 Jan 2026 12:00:10 GMT';
    for (const aside of [-3_600_000, 0, 3_600_000]) {
      const { disposition } = refusalError(listNodes, { ...answer, date }, NOW + aside);
      assert.deepEqual(disposition, { kind: 'wait', ms: 20_000 });
    }
  });

  it('of an eviction by a disruption budget asks nobody else for time', () => {
    const causes = [{ reason: 'DisruptionBudget', message: 'it is still being processed by the server' }];
    const body = said('TooManyRequests', 'no', { details: { causes, retryAfterSeconds: 10 } });
    const error = refusalError(listNodes, { status: 429, body, retryAfter: '10' }, NOW);
    assert.deepEqual([error.code, error.disposition], ['KUBE_THROTTLED', { kind: 'retry' }]);
  });

  it('takes the time from the Status where there is no header', () => {
    const body = said('ServerTimeout', 'later', { details: { retryAfterSeconds: 3 } });
    assert.deepEqual(refusalError(listNodes, { status: 504, body }, NOW).disposition, { kind: 'wait', ms: 3000 });
  });

  it('names the right that is missing', () => {
    const message = 'nodes is forbidden: User "u" cannot list resource "nodes" in API group "" at the cluster scope';
    const error = refusalError(listNodes, { status: 403, body: said('Forbidden', message) }, NOW);
    assert.equal(
      error.message,
      `cannot list nodes: ${message}. Grant the verb "list" on "nodes" of the API group "", in a ClusterRole`,
    );
  });

  for (const subresource of ['proxy/configz', 'proxy/stats/summary'] as const) {
    it(`advises nobody to grant what ${subresource} needs`, () => {
      const call: Call = { verb: 'get', resource: NODES, name: 'n', subresource };
      for (const message of [
        '',
        'nodes "n" is forbidden: User "u" cannot get resource "nodes/proxy" in API group ""',
      ]) {
        const { message: says } = refusalError(call, { status: 403, body: said('Forbidden', message) }, NOW);
        assert.doesNotMatch(says, /\bGrant\b|API group "", in/);
        assert.match(says, /Do not grant/);
      }
    });
  }

  it('does not speak of rights where a quota or admission says no', () => {
    const message = 'configmaps "a" is forbidden: exceeded quota: small';
    const error = refusalError(listNodes, { status: 403, body: said('Forbidden', message) }, NOW);
    assert.equal(error.message, `cannot list nodes: ${message}`);
  });

  it('says that a CRD may be missing where the resource is unknown', () => {
    const { message } = refusalError(listKnodes, { status: 404, body: undefined }, NOW);
    assert.match(message, /does not know kubeletnodes\.kubelet-gitops\.dev\/v1alpha1: is the CRD installed\?$/);
    assert.match(refusalError(listNodes, { status: 404, body: undefined }, NOW).message, /is the address right\?$/);
  });

  it('tells a missing object from a missing resource', () => {
    const object = said('NotFound', 'nodes "a" not found', { details: { name: 'a', kind: 'nodes' } });
    assert.equal(isMissingObject({ status: 404, body: object }), true);
    assert.equal(isMissingObject({ status: 404, body: said('NotFound', 'no such thing') }), false);
    assert.equal(isMissingObject({ status: 404, body: undefined }), false);
    assert.equal(isMissingObject({ status: 403, body: object }), false);
  });

  it('in a watch is read from the ERROR event', () => {
    assert.equal(watchError(listNodes, said('Expired', 'too old', { code: 410 })).code, 'KUBE_GONE');
    assert.equal(watchError(listNodes, said('InternalError', 'etcd', { code: 500 })).code, 'KUBE_SERVER_ERROR');
    assert.equal(watchError(listNodes, { no: 'status' }).code, 'KUBE_GARBLED');
  });
});
