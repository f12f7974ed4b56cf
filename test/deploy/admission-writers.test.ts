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
const lease = (name: string, more: Partial<AdmissionRequest> = {}) => {
  const object = { metadata: { name } };
  const resource = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
  const request = { ...on('leases', { namespace: 'kubelet-gitops', name, ...more }), resource };
  return [request, request.operation === 'DELETE' ? { oldObject: object } : { object, oldObject: object }] as const;
};
const LEADS = 'kubelet-gitops-reconciler';
const DELETES = { operation: 'DELETE' } as const;
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
const POOL = on('kubeletpools');
const NODE = on('kubeletnodes');
const STATUS = { subResource: 'status' };
const by = (userInfo: AdmissionRequest['userInfo']) => ({ userInfo });
const creates = { operation: 'CREATE' } as const;
const was = (oldObject: Pool, object: Pool): Objects => ({ object, oldObject });
const changed = (spec: object | null = {}): Objects => was(pool(), pool({}, spec));
const claims = (who: string): Pool => annotated({ 'kubelet-gitops.dev/by': who });
const suspended = (more: object = {}): Pool => annotated({ 'kubelet-gitops.dev/suspend': 'look', ...more });
const released = annotated({ 'kubelet-gitops.dev/first-seen': '1', 'kubelet-gitops.dev/release': 'x' });
const APPROVAL = `${'a'.repeat(64)}@${AT} canary`;
const approvedBy = (who: string, value = APPROVAL): Pool =>
  annotated({
    'kubelet-gitops.dev/approve': value,
    'kubelet-gitops.dev/by': claimText({ verb: 'approve', at: AT, who }, value),
  });
/** The authorizer lets her approve in this pool. */
const granted = (oldObject: Pool, object: Pool, name = 'gpu'): Objects => ({
  ...was(oldObject, object),
  grants: [`approve kubeletpools.kubelet-gitops.dev/${name}`],
});
const NOTHING = pool({}, null);
function annotationsOf({ metadata }: Pool): object {
  return (metadata as { readonly annotations: object }).annotations;
}
const commitReleased = pool({ annotations: { 'kubelet-gitops.dev/release': 'x' } }, null);
const GENERAL = 'general-0123456789';
const ADA_OF_PLATFORM = claimText({ verb: 'resume', at: AT, who: 'Ada of Platform' }, '');

const ADMITTED: readonly Row[] = [
  ['the reconciler makes a pool', { ...POOL, ...creates, ...by(RECONCILER) }, { object: pool() }],
  ['the reconciler writes a spec', { ...POOL, ...by(RECONCILER) }, changed()],
  ['the reconciler assigns', { ...NODE, ...by(RECONCILER) }, was(NOTHING, pool())],
  ['an operator suspends', POOL, was(pool(), suspended())],
  [
    'an operator suspends and says who did it',
    POOL,
    was(claims(BY_ADA), suspended({ 'kubelet-gitops.dev/by': BY_MALLORY })),
  ],
  [
    'an operator leaves alone what somebody else said',
    POOL,
    was(claims(BY_ADA), suspended({ 'kubelet-gitops.dev/by': BY_ADA })),
  ],
  [
    'an operator whose name has spaces',
    { ...POOL, ...by({ username: 'Ada of Platform' }) },
    was(annotated({}), claims(ADA_OF_PLATFORM)),
  ],
  ['an approver approves', POOL, granted(pool(), approvedBy(PERSON.username))],
  ['an approver takes an approval back', POOL, granted(approvedBy('ada'), pool())],
  [
    'an operator suspends beside an approval',
    POOL,
    was(approvedBy('ada'), annotated({ ...annotationsOf(approvedBy('ada')), 'kubelet-gitops.dev/suspend': 'look' })),
  ],
  ['an operator resumes', POOL, was(suspended(), annotated({}))],
  ['an operator releases beside what is there', POOL, was(kept, released)],
  ['an operator releases a commit', on('kubeletsources'), was(NOTHING, commitReleased)],
  [
    'the reconciler writes what became of the branch',
    on('kubeletsources', { ...STATUS, name: 'kubelet-gitops', ...by(RECONCILER) }),
    was(NOTHING, NOTHING),
  ],
  [
    'anybody deletes, as far as RBAC lets him: it is made again',
    on('kubeletpools', { operation: 'DELETE' }),
    { oldObject: pool() },
  ],
  [
    'the garbage collector takes finalizers off',
    { ...NODE, ...by(COLLECTOR) },
    was(pool({ finalizers: ['foregroundDeletion'] }), pool()),
  ],
  [
    'an agent is judged by its own policy',
    { ...NODE, ...STATUS, ...by(account('kubelet-gitops', 'kubelet-gitops-agent')) },
    was(pool(), pool()),
  ],
  ['somebody makes a ConfigMap of his own', ...configMap('my-settings', undefined)],
  ['somebody edits the settings', ...configMap('kubelet-gitops-settings', { 'app.kubernetes.io/managed-by': 'Helm' })],
  ['somebody makes one in another namespace', ...configMap(GENERAL, OURS, { namespace: 'other' })],
  ['the reconciler renews its Lease', ...lease(LEADS, by(RECONCILER))],
  ['somebody writes another Lease', ...lease('of-others')],
  ['somebody writes one of that name elsewhere', ...lease(LEADS, { namespace: 'other' })],
  ['the namespace goes, and the Lease with it', ...lease(LEADS, { ...DELETES, ...by(COLLECTOR) })],
  [
    'the same where controllers have no accounts of their own',
    ...lease(LEADS, { ...DELETES, ...by({ username: 'system:kube-controller-manager' }) }),
  ],
  ['the reconciler makes a config source', ...configMap(GENERAL, OURS, by(RECONCILER))],
];

const SPEC_IS_OURS = /writes the spec/;
const METADATA_IS_OURS = /labels, finalizers and owners/;
const REFUSED: readonly (readonly [...Row, RegExp])[] = [
  ['somebody takes the Lease', ...lease(LEADS), /only the reconciler writes the Lease/],
  ['somebody makes it first', ...lease(LEADS, creates), /only the reconciler writes the Lease/],
  ['somebody deletes it', ...lease(LEADS, DELETES), /only the reconciler writes the Lease/],
  ['a controller takes it', ...lease(LEADS, by(COLLECTOR)), /only the reconciler writes the Lease/],
  [
    'an agent takes it',
    ...lease(LEADS, by(account('kubelet-gitops', 'kubelet-gitops-agent'))),
    /only the reconciler writes the Lease/,
  ],
  [
    'an approval by who may only patch',
    POOL,
    was(pool(), approvedBy(PERSON.username)),
    /mallory may not approve .* gpu: grant the verb "approve"/,
  ],
  [
    'an approval by who may approve in another pool',
    POOL,
    granted(pool(), approvedBy(PERSON.username), 'cpu'),
    /may not approve/,
  ],
  [
    'another approval than there was',
    POOL,
    was(approvedBy('ada'), approvedBy(PERSON.username, `${APPROVAL} 2`)),
    /may not approve/,
  ],
  [
    'an approval in nobody’s name',
    POOL,
    granted(pool(), annotated({ 'kubelet-gitops.dev/approve': APPROVAL })),
    /says in .* who gives it/,
  ],
  [
    'an approval in the name of another one before',
    POOL,
    granted(
      annotated({ 'kubelet-gitops.dev/by': BY_ADA }),
      annotated({ 'kubelet-gitops.dev/approve': APPROVAL, 'kubelet-gitops.dev/by': BY_ADA }),
    ),
    /says in .* who gives it/,
  ],
  [
    'an approval under the claim of a suspension',
    POOL,
    granted(pool(), annotated({ 'kubelet-gitops.dev/approve': APPROVAL, 'kubelet-gitops.dev/by': BY_MALLORY })),
    /says in .* who gives it/,
  ],
  ['a new pool', { ...POOL, ...creates }, { object: pool() }, /only the reconciler makes/],
  ...[
    BY_ADA,
    'ada',
    'mallory',
    `${'x'.repeat(40)} of ada`,
    claimText({ verb: 'suspend', at: AT, who: 'ada mallory' }, ''),
  ].map((who): readonly [...Row, RegExp] => [
    `the claim of being somebody else (${who})`,
    POOL,
    was(annotated({}), claims(who)),
    /names somebody else/,
  ]),
  [
    'a KubeletSource of somebody’s own',
    on('kubeletsources', creates),
    { object: NOTHING },
    /only the reconciler makes .* the KubeletSource/,
  ],
  ['what became of the branch', on('kubeletsources', STATUS), was(NOTHING, NOTHING), /writes their status/],
  [
    'the labels of the KubeletSource',
    on('kubeletsources'),
    was(NOTHING, pool({ labels: { a: 'b' } }, null)),
    METADATA_IS_OURS,
  ],
  ['the spec of a pool', POOL, changed({ ...SPEC, priority: 1000 }), SPEC_IS_OURS],
  ['the end of a spec', POOL, changed(null), SPEC_IS_OURS],
  ['a spec and a suspension at once', POOL, was(pool(), { ...suspended(), spec: {} }), SPEC_IS_OURS],
  ['the status of a pool', { ...POOL, ...STATUS }, was(pool(), pool()), /and writes their status/],
  ['an assignment', NODE, was(pool({}, {}), pool()), SPEC_IS_OURS],
  ['the first spec of a node', NODE, was(NOTHING, pool({}, {})), SPEC_IS_OURS],
  ['the status of a node', { ...NODE, ...STATUS }, was(pool(), pool()), /and writes their status/],
  ['the spec, by a controller of the cluster', { ...POOL, ...by(COLLECTOR) }, changed(), SPEC_IS_OURS],
  [
    'another annotation',
    POOL,
    was(kept, annotated({ 'kubelet-gitops.dev/first-seen': '2' })),
    /annotations other than/,
  ],
  ['the loss of another annotation', POOL, was(kept, pool()), /annotations other than/],
  [
    'an owner, with which it would be collected',
    POOL,
    was(pool(), pool({ ownerReferences: [{ uid: 'x' }] })),
    METADATA_IS_OURS,
  ],
  ['a finalizer, with which it would stay', POOL, was(pool(), pool({ finalizers: ['x'] })), METADATA_IS_OURS],
  ['a label', NODE, was(pool({ labels: { a: 'c' } }), pool({ labels: { a: 'b' } })), METADATA_IS_OURS],
  [
    'an account whose name begins like the reconciler’s',
    { ...POOL, ...by({ username: `${RECONCILER.username}-2` }) },
    changed(),
    SPEC_IS_OURS,
  ],
  [
    'a spec by another version of the API',
    { ...POOL, resource: { ...POOL.resource, version: 'v9' } },
    changed(),
    SPEC_IS_OURS,
  ],
  ['a config source', ...configMap(GENERAL, OURS), /only the reconciler writes config sources/],
  [
    'a config source that loses its mark',
    configMap(GENERAL, undefined, { operation: 'UPDATE' })[0],
    { object: { metadata: { name: GENERAL } }, oldObject: { metadata: { name: GENERAL, labels: OURS } } },
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
    assert.equal(policies.length, 3);
    for (const { spec, metadata } of policies) {
      assert.equal(spec.failurePolicy, 'Fail');
      const binding = bindings.find(({ spec: { policyName } }) => policyName === metadata.name);
      assert.ok(binding?.spec.validationActions.includes('Deny'), metadata.name);
    }
    assert.notDeepEqual(verdict(on('kubeletpools'), { object: {}, oldObject: {} }), []);
  });

  it('leave the operators’ right no more than its annotations: it patches pools and the source, and nothing else', () => {
    const [role, approver] = readDocuments('deploy/components/admission/operators.yaml') as unknown as readonly {
      readonly rules: unknown;
    }[];
    assert.deepEqual(role?.rules, [
      {
        apiGroups: ['kubelet-gitops.dev'],
        resources: ['kubeletpools', 'kubeletsources'],
        verbs: ['get', 'list', 'patch'],
      },
    ]);
    assert.deepEqual(approver?.rules, [
      {
        apiGroups: ['kubelet-gitops.dev'],
        resources: ['kubeletpools'],
        verbs: ['get', 'list', 'patch', 'approve'],
      },
    ]);
  });
});
