import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AdmissionRequest, type Binding, judge, type Policy, readDocuments } from './admission-policy.ts';

const FILE = 'deploy/components/admission/policy.yaml';
const documents = readDocuments(FILE);
const policy = documents.find(({ kind }) => kind === 'ValidatingAdmissionPolicy') as Policy;
const binding = documents.find(({ kind }) => kind === 'ValidatingAdmissionPolicyBinding') as Binding;

const AGENT = 'system:serviceaccount:kubelet-gitops:kubelet-gitops-agent';
const NODE_NAME = 'authentication.kubernetes.io/node-name';
/** As the API server reads it from the token that the kubelet of node-a got for the agent's pod, from 1.30 on. */
const onNodeA = {
  username: AGENT,
  extra: {
    [NODE_NAME]: ['node-a'],
    'authentication.kubernetes.io/node-uid': ['5e1f'],
    'authentication.kubernetes.io/pod-name': ['kubelet-gitops-agent-7k2mh'],
  },
};
const ownStatus: AdmissionRequest = {
  operation: 'UPDATE',
  resource: { group: 'kubelet-gitops.dev', version: 'v1alpha1', resource: 'kubeletnodes' },
  subResource: 'status',
  name: 'node-a',
  userInfo: onNodeA,
};
const asReconciler = { username: 'system:serviceaccount:kubelet-gitops:kubelet-gitops-reconciler' };
const { name: _, ...nameless } = ownStatus;

const ADMITTED: readonly (readonly [string, AdmissionRequest])[] = [
  ['an agent writes the status of its own node', ownStatus],
  [
    'the reconciler makes a KubeletNode',
    { ...ownStatus, operation: 'CREATE', subResource: '', userInfo: asReconciler },
  ],
  ['the reconciler assigns', { ...ownStatus, subResource: '', userInfo: asReconciler }],
  ['the reconciler deletes', { ...ownStatus, operation: 'DELETE', subResource: '', userInfo: asReconciler }],
  ['an administrator writes a status', { ...ownStatus, userInfo: { username: 'admin' } }],
  [
    'somebody whose name only begins like the agent’s is judged by RBAC alone',
    { ...ownStatus, userInfo: { username: `${AGENT}-of-mine` } },
  ],
  [
    'objects that are not ours are nobody’s business here',
    { ...ownStatus, resource: { group: '', version: 'v1', resource: 'nodes' }, userInfo: { username: AGENT } },
  ],
];

const REFUSED: readonly (readonly [string, AdmissionRequest, RegExp])[] = [
  ['the status of another node', { ...ownStatus, name: 'node-b' }, /the agent on node node-a .* and this is node-b/],
  ['a node whose name begins like its own', { ...ownStatus, name: 'node-a2' }, /this is node-a2/],
  ['the assignment of its own node', { ...ownStatus, subResource: '' }, /and nothing else of them/],
  ['a KubeletNode of its own name', { ...ownStatus, operation: 'CREATE', subResource: '' }, /and nothing else/],
  ['the end of its own KubeletNode', { ...ownStatus, operation: 'DELETE', subResource: '' }, /and nothing else/],
  ['a create of what is a status', { ...ownStatus, operation: 'CREATE' }, /and nothing else/],
  ['a token that says nothing of pods', { ...ownStatus, userInfo: { username: AGENT } }, /names no node/],
  [
    'a token without the node',
    { ...ownStatus, userInfo: { username: AGENT, extra: { other: ['a'] } } },
    /names no node/,
  ],
  [
    'an empty list of nodes',
    { ...ownStatus, userInfo: { username: AGENT, extra: { [NODE_NAME]: [] } } },
    /names no node/,
  ],
  ['an empty name', { ...ownStatus, userInfo: { username: AGENT, extra: { [NODE_NAME]: [''] } } }, /names no node/],
  [
    'no name at all on either side',
    { ...ownStatus, name: '', userInfo: { username: AGENT, extra: { [NODE_NAME]: [''] } } },
    /names no node/,
  ],
  ['a request without a name', nameless, /cannot be evaluated/],
  [
    'another version of the API',
    { ...ownStatus, name: 'node-b', resource: { ...ownStatus.resource, version: 'v9' } },
    /this is node-b/,
  ],
];

describe('the admission policy for agents', () => {
  for (const [what, request] of ADMITTED) {
    it(`lets pass: ${what}`, () => assert.deepEqual(judge(policy, request), { admitted: true }));
  }

  for (const [what, request, why] of REFUSED) {
    it(`refuses an agent: ${what}`, () => {
      const verdict = judge(policy, request);
      assert.ok(!verdict.admitted, 'it was admitted');
      assert.match(verdict.why.join('; '), why);
    });
  }

  it('refuses what cannot be judged', () => {
    assert.equal(policy.spec.failurePolicy, 'Fail');
    const broken = { ...policy.spec, variables: [{ name: 'ownNode', expression: 'request.nothing.at.all' }] };
    assert.equal(judge({ ...policy, spec: broken }, ownStatus).admitted, false);
    const blind = { ...policy.spec, matchConditions: [{ name: 'x', expression: 'request.nothing == 1' }] };
    assert.equal(judge({ ...policy, spec: blind }, ownStatus).admitted, false);
  });

  it('needs each of its validations: without any one, something passes that has to be refused', () => {
    const { validations } = policy.spec;
    for (const left of validations) {
      const rest = { ...policy, spec: { ...policy.spec, validations: validations.filter((each) => each !== left) } };
      const passing = REFUSED.filter(([, request]) => judge(rest, request).admitted);
      assert.notDeepEqual(passing, [], `nothing needs ${left.expression}`);
    }
  });

  it('is bound, and the binding refuses', () => {
    assert.equal(binding.spec.policyName, policy.metadata.name);
    assert.ok(binding.spec.validationActions.includes('Deny'));
    // The API server takes no binding with both.
    assert.ok(!binding.spec.validationActions.includes('Warn'));
  });

  it('is for the account that the agents have', () => {
    const names = readDocuments('deploy/rbac/agent.yaml').flatMap((document) => {
      const { kind, metadata } = document as Policy & { metadata: { readonly namespace?: string } };
      return kind === 'ServiceAccount' ? [`system:serviceaccount:${metadata.namespace}:${metadata.name}`] : [];
    });
    assert.deepEqual(names, [AGENT]);
  });
});
