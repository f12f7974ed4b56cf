import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claimText } from '#shared/contract/claim.ts';
import {
  type AdmissionRequest,
  type Binding,
  judge,
  type Objects,
  type Policy,
  readDocuments,
} from './admission-policy.ts';

const documents = readDocuments('deploy/components/admission/writers.yaml');
const policies = documents.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy') as unknown as readonly Policy[];
const bindings = documents.filter(
  ({ kind }) => kind === 'ValidatingAdmissionPolicyBinding',
) as unknown as readonly Binding[];

const account = (namespace: string, name: string) => ({ username: `system:serviceaccount:${namespace}:${name}` });
const RECONCILER = account('kubelet-gitops', 'kubelet-gitops-reconciler');
const PERSON = { username: 'mallory' };
const COLLECTOR = account('kube-system', 'generic-garbage-collector');

type Pool = Readonly<Record<string, unknown>>;
const SPEC = { nodeSelector: { matchLabels: { a: 'b' } }, priority: 0 };
const pool = (metadata: object = {}, spec: object | null = SPEC): Pool => ({
  metadata: { name: 'gpu', ...metadata },
  ...(spec === null ? {} : { spec }),
});

const on = (resource: string, more: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  operation: 'UPDATE',
  resource: { group: 'kubelet-gitops.dev', version: 'v1alpha1', resource },
  subResource: '',
  name: 'gpu',
  userInfo: PERSON,
  ...more,
});
const configMap = (name: string, labels: object | undefined, more: Partial<AdmissionRequest> = {}) =>
  [
    {
      ...on('configmaps', { operation: 'CREATE', name, namespace: 'kubelet-gitops', ...more }),
      resource: { group: '', version: 'v1', resource: 'configmaps' },
    },
    { object: { metadata: { name, ...(labels === undefined ? {} : { labels }) } } },
  ] as const;
const OURS = { 'app.kubernetes.io/managed-by': 'kubelet-gitops' };
const annotated = (annotations: object): Pool => pool({ annotations });
const kept = annotated({ 'kubelet-gitops.dev/first-seen': '1' });

const AT = '2026-11-22T10:00:00Z';
const BY_MALLORY = claimText({ verb: 'suspend', at: AT, who: PERSON.username }, 'look');
const BY_ADA = claimText({ verb: 'suspend', at: AT, who: 'ada' }, 'look');

/** What all policies together say. */
function verdict(request: AdmissionRequest, objects: Objects): readonly string[] {
  return policies.flatMap((policy) => {
    const said = judge(policy, request, objects);
    return said.admitted ? [] : said.why;
  });
}

type Row = readonly [what: string, request: AdmissionRequest, objects: Objects];
const ADMITTED: readonly Row[] = [
  [
    'the reconciler makes a pool',
    on('kubeletpools', { operation: 'CREATE', userInfo: RECONCILER }),
    { object: pool() },
  ],
  [
    'the reconciler writes a spec',
    on('kubeletpools', { userInfo: RECONCILER }),
    { object: pool({}, {}), oldObject: pool() },
  ],
  [
    'the reconciler assigns',
    on('kubeletnodes', { userInfo: RECONCILER }),
    { object: pool(), oldObject: pool({}, null) },
  ],
  [
    'an operator suspends',
    on('kubeletpools'),
    { object: annotated({ 'kubelet-gitops.dev/suspend': 'look' }), oldObject: pool() },
  ],
  [
    'an operator suspends and says who did it',
    on('kubeletpools'),
    {
      object: annotated({ 'kubelet-gitops.dev/suspend': 'look', 'kubelet-gitops.dev/by': BY_MALLORY }),
      oldObject: annotated({ 'kubelet-gitops.dev/by': BY_ADA }),
    },
  ],
  [
    'an operator leaves alone what somebody else said',
    on('kubeletpools'),
    {
      object: annotated({ 'kubelet-gitops.dev/by': BY_ADA, 'kubelet-gitops.dev/suspend': 'look' }),
      oldObject: annotated({ 'kubelet-gitops.dev/by': BY_ADA }),
    },
  ],
  [
    'an operator whose name has spaces',
    on('kubeletpools', { userInfo: { username: 'Ada of Platform' } }),
    {
      object: annotated({ 'kubelet-gitops.dev/by': claimText({ verb: 'resume', at: AT, who: 'Ada of Platform' }, '') }),
      oldObject: annotated({}),
    },
  ],
  [
    'an operator resumes',
    on('kubeletpools'),
    { object: annotated({}), oldObject: annotated({ 'kubelet-gitops.dev/suspend': 'look' }) },
  ],
  [
    'an operator releases beside what is there',
    on('kubeletpools'),
    {
      object: pool({ annotations: { 'kubelet-gitops.dev/first-seen': '1', 'kubelet-gitops.dev/release': 'x' } }),
      oldObject: kept,
    },
  ],
  [
    'the reconciler writes what became of the branch',
    on('kubeletsources', { subResource: 'status', name: 'kubelet-gitops', userInfo: RECONCILER }),
    { object: pool({}, null), oldObject: pool({}, null) },
  ],
  [
    'anybody deletes, as far as RBAC lets him: it is made again',
    on('kubeletpools', { operation: 'DELETE' }),
    { oldObject: pool() },
  ],
  [
    'the garbage collector takes finalizers off',
    on('kubeletnodes', { userInfo: COLLECTOR }),
    { object: pool(), oldObject: pool({ finalizers: ['foregroundDeletion'] }) },
  ],
  [
    'an agent is judged by its own policy',
    on('kubeletnodes', { subResource: 'status', userInfo: account('kubelet-gitops', 'kubelet-gitops-agent') }),
    { object: pool(), oldObject: pool() },
  ],
  ['somebody makes a ConfigMap of his own', ...configMap('my-settings', undefined)],
  ['somebody edits the settings', ...configMap('kubelet-gitops-settings', { 'app.kubernetes.io/managed-by': 'Helm' })],
  ['somebody makes one in another namespace', ...configMap('general-0123456789', OURS, { namespace: 'other' })],
  ['the reconciler makes a config source', ...configMap('general-0123456789', OURS, { userInfo: RECONCILER })],
];

const REFUSED: readonly (readonly [...Row, RegExp])[] = [
  ['a new pool', on('kubeletpools', { operation: 'CREATE' }), { object: pool() }, /only the reconciler makes/],
  ...[
    BY_ADA,
    'ada',
    'mallory',
    `${'x'.repeat(40)} of ada`,
    claimText({ verb: 'suspend', at: AT, who: 'ada mallory' }, ''),
  ].map((by): readonly [...Row, RegExp] => [
    `the claim of being somebody else (${by})`,
    on('kubeletpools'),
    { object: annotated({ 'kubelet-gitops.dev/by': by }), oldObject: annotated({}) },
    /names somebody else/,
  ]),
  [
    'a KubeletSource of somebody’s own',
    on('kubeletsources', { operation: 'CREATE' }),
    { object: pool({}, null) },
    /only the reconciler makes .* the KubeletSource/,
  ],
  [
    'what became of the branch',
    on('kubeletsources', { subResource: 'status' }),
    { object: pool({}, null), oldObject: pool({}, null) },
    /writes their status/,
  ],
  [
    'the labels of the KubeletSource',
    on('kubeletsources'),
    { object: pool({ labels: { a: 'b' } }, null), oldObject: pool({}, null) },
    /labels, finalizers and owners/,
  ],
  [
    'the spec of a pool',
    on('kubeletpools'),
    { object: pool({}, { ...SPEC, priority: 1000 }), oldObject: pool() },
    /writes the spec/,
  ],
  ['the end of a spec', on('kubeletpools'), { object: pool({}, null), oldObject: pool() }, /writes the spec/],
  [
    'a spec and a suspension at once',
    on('kubeletpools'),
    { object: { ...annotated({ 'kubelet-gitops.dev/suspend': '' }), spec: {} }, oldObject: pool() },
    /writes the spec/,
  ],
  [
    'the status of a pool',
    on('kubeletpools', { subResource: 'status' }),
    { object: pool(), oldObject: pool() },
    /and writes their status/,
  ],
  ['an assignment', on('kubeletnodes'), { object: pool(), oldObject: pool({}, {}) }, /writes the spec/],
  [
    'the first spec of a node',
    on('kubeletnodes'),
    { object: pool({}, {}), oldObject: pool({}, null) },
    /writes the spec/,
  ],
  [
    'the status of a node',
    on('kubeletnodes', { subResource: 'status' }),
    { object: pool(), oldObject: pool() },
    /and writes their status/,
  ],
  [
    'the spec, by a controller of the cluster',
    on('kubeletpools', { userInfo: COLLECTOR }),
    { object: pool({}, {}), oldObject: pool() },
    /writes the spec/,
  ],
  [
    'another annotation',
    on('kubeletpools'),
    { object: annotated({ 'kubelet-gitops.dev/first-seen': '2' }), oldObject: kept },
    /annotations other than/,
  ],
  ['the loss of another annotation', on('kubeletpools'), { object: pool(), oldObject: kept }, /annotations other than/],
  [
    'an owner, with which it would be collected',
    on('kubeletpools'),
    { object: pool({ ownerReferences: [{ uid: 'x' }] }), oldObject: pool() },
    /labels, finalizers and owners/,
  ],
  [
    'a finalizer, with which it would stay',
    on('kubeletpools'),
    { object: pool({ finalizers: ['x'] }), oldObject: pool() },
    /labels, finalizers and owners/,
  ],
  [
    'a label',
    on('kubeletnodes'),
    { object: pool({ labels: { a: 'b' } }), oldObject: pool({ labels: { a: 'c' } }) },
    /labels, finalizers and owners/,
  ],
  [
    'an account whose name begins like the reconciler’s',
    on('kubeletpools', { userInfo: { username: `${RECONCILER.username}-2` } }),
    { object: pool({}, {}), oldObject: pool() },
    /writes the spec/,
  ],
  [
    'a spec by another version of the API',
    on('kubeletpools', { resource: { group: 'kubelet-gitops.dev', version: 'v9', resource: 'kubeletpools' } }),
    { object: pool({}, {}), oldObject: pool() },
    /writes the spec/,
  ],
  ['a config source', ...configMap('general-0123456789', OURS), /only the reconciler writes config sources/],
  [
    'a config source that loses its mark',
    configMap('general-0123456789', undefined, { operation: 'UPDATE' })[0],
    {
      object: { metadata: { name: 'general-0123456789' } },
      oldObject: { metadata: { name: 'general-0123456789', labels: OURS } },
    },
    /only the reconciler writes config sources/,
  ],
];

describe('the admission policies for whoever else writes our objects', () => {
  for (const [what, request, objects] of ADMITTED) {
    it(`let pass: ${what}`, () => assert.deepEqual(verdict(request, objects), []));
  }

  for (const [what, request, objects, why] of REFUSED) {
    it(`refuse: ${what}`, () => {
      const said = verdict(request, objects).join('; ');
      assert.match(said, why);
      assert.doesNotMatch(said, /cannot be evaluated/);
    });
  }

  it('need each of their validations: without any one, something passes that has to be refused', () => {
    for (const policy of policies) {
      for (const left of policy.spec.validations) {
        const validations = policy.spec.validations.filter((each) => each !== left);
        const rest = { ...policy, spec: { ...policy.spec, validations } };
        const others = policies.filter((each) => each !== policy);
        const passing = REFUSED.filter(([, request, objects]) =>
          [rest, ...others].every((each) => judge(each, request, objects).admitted),
        );
        assert.notDeepEqual(passing, [], `nothing needs ${left.expression}`);
      }
    }
  });

  it('refuse what cannot be judged, and are bound so that they refuse', () => {
    assert.equal(policies.length, 2);
    for (const { spec, metadata } of policies) {
      assert.equal(spec.failurePolicy, 'Fail');
      const binding = bindings.find(({ spec: { policyName } }) => policyName === metadata.name);
      assert.ok(binding?.spec.validationActions.includes('Deny'), metadata.name);
    }
    assert.notDeepEqual(verdict(on('kubeletpools'), { object: {}, oldObject: {} }), []);
  });

  it('leave the operators’ right no more than its annotations: it patches pools, and nothing else', () => {
    const [role] = readDocuments('deploy/components/admission/operators.yaml') as unknown as readonly {
      readonly rules: unknown;
    }[];
    assert.deepEqual(role?.rules, [
      { apiGroups: ['kubelet-gitops.dev'], resources: ['kubeletpools'], verbs: ['get', 'list', 'patch'] },
    ]);
  });
});
