import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { nodeSkipReason } from './support/binaries.ts';
import type { Asked } from './support/audit.ts';
import { allows, type Right, rightsIn, type Role, roleWithout, titleOf } from './support/granted.ts';
import { callHttps } from './support/https-json.ts';
import { askAuthorizer, type Authorizer, servedResources, type AccessRequest } from './support/authorizer.ts';
import { COMPONENTS, runRightsStory, type RightsStory } from './support/rights-story.ts';
import { until } from '../support/until.ts';

const skip = await nodeSkipReason();
const RIGHTS = rightsIn(['deploy/rbac/agent.yaml', 'deploy/rbac/reconciler.yaml', ...COMPONENTS]);
const ACCOUNTS = ['kubelet-gitops-agent', 'kubelet-gitops-reconciler'] as const;

/**
 * Rights of which one version of Kubernetes uses the one and other versions the other: kubelets from 1.33 on ask for
 * nodes/configz, API servers from 1.23 on take our Events in "default".
 */
const TWINS: readonly (readonly [(right: Right) => boolean, (right: Right) => boolean])[] = [
  [({ resource }) => resource === 'nodes/configz', ({ resource }) => resource === 'nodes/proxy'],
  [
    ({ resource, namespace }) => resource === 'events' && namespace === 'default',
    ({ resource, namespace }) => resource === 'events' && namespace === 'kube-system',
  ],
];

const isUsed = (right: Right, asked: readonly Asked[]): boolean => asked.some((each) => allows(right, each));
const twinOf = (right: Right): Right | undefined =>
  TWINS.flatMap(([one, other]) => [...(one(right) ? [other] : []), ...(other(right) ? [one] : [])])
    .flatMap((isTwin) => RIGHTS.filter((each) => isTwin(each) && each.verb === right.verb))
    .at(0);
/** Those that nobody used, nor their twins. */
const idleAfter = (asked: readonly Asked[]): readonly Right[] =>
  RIGHTS.filter((right) => {
    const twin = twinOf(right);
    return !isUsed(right, asked) && (twin === undefined || !isUsed(twin, asked));
  });

describeOrSkip('the rights in the manifests, on a real API server', { skip }, () => {
  let story: RightsStory;
  let authoriser: Authorizer;

  before(async () => {
    // Watches are taken down when they end.
    story = await runRightsStory((asked) => idleAfter(asked).every(({ verb }) => verb === 'watch'));
    authoriser = askAuthorizer(story.cluster);
  });
  after(async () => {
    authoriser?.close();
    await story?.stop();
  });

  it('are enough: nobody was refused anything', () => {
    assert.deepEqual(story.refusals, []);
    assert.deepEqual(
      story.asked.filter(({ status }) => status === 401 || status === 403),
      [],
    );
  });

  it('are all used, each by the work of the program that has it', () => {
    assert.ok(RIGHTS.length > 25);
    assert.deepEqual(idleAfter(story.asked).map(titleOf), []);
  });

  it('cover everything that was asked for', () => {
    const uncovered = story.asked.filter((asked) => !RIGHTS.some((right) => allows(right, asked)));
    assert.deepEqual(uncovered, []);
  });

  it('cannot do without any: whichever is taken away, a request that the work needs is refused', async () => {
    for (const right of RIGHTS.filter((each) => isUsed(each, story.asked))) {
      const request = story.asked.find((asked) => allows(right, asked));
      assert.ok(request !== undefined);
      await allowed(right, request);
      // Two components that grant the same, each for a purpose of its own.
      const same = RIGHTS.filter((each) => allows(each, request));
      assert.equal(new Set(same.map(({ role }) => role.metadata.name)).size, same.length, `twice: ${titleOf(right)}`);
      for (const each of same) await replaceRole(roleWithout(each));
      const refused = async (): Promise<boolean> => !(await authoriser.may(right.account, request));
      await until(`refusal of ${titleOf(right)}`, refused, { everyMs: 10 });
      for (const { role } of same) await replaceRole(role);
      await allowed(right, request);
    }
  });

  /** The authoriser hears of a role a moment after it was written. */
  const allowed = (right: Right, request: Asked): Promise<unknown> =>
    until(titleOf(right), () => authoriser.may(right.account, request), { everyMs: 10 });

  const replaceRole = async (role: Role): Promise<void> => {
    const { name, namespace } = role.metadata;
    const place = namespace === undefined ? 'clusterroles' : `namespaces/${namespace}/roles`;
    const path = `/apis/rbac.authorization.k8s.io/v1/${place}/${name}`;
    const answer = await story.cluster.request('PUT', path, role);
    assert.equal(answer.status, 200, answer.text);
  };

  it('are all there is: of everything that the API server serves, nothing else is allowed', async () => {
    const wishes = await allWishes();
    assert.ok(wishes.length > 1_000, `${wishes.length}`);
    for (const right of RIGHTS) {
      const request = story.asked.find((asked) => allows(right, asked));
      if (request !== undefined) await allowed(right, request);
    }
    const may: string[] = [];
    const expected: string[] = [];
    for (const account of ACCOUNTS) {
      const answers = await inTurns(wishes, (wish) => authoriser.may(account, wish));
      const granted = (wish: AccessRequest): boolean => RIGHTS.some((right) => allows(right, { ...wish, account }));
      wishes.forEach((wish, at) => {
        if (answers[at] === true) may.push(`${account} ${JSON.stringify(wish)}`);
        if (granted(wish) || isEverybodys(wish)) expected.push(`${account} ${JSON.stringify(wish)}`);
      });
    }
    assert.deepEqual(may, expected);
  });

  /** Every verb on every resource, in our namespace and in two of others, and what is no resource but a verb of RBAC. */
  async function allWishes(): Promise<readonly AccessRequest[]> {
    const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', '*'];
    const served = await servedResources(story.cluster);
    const everything = [
      ...served,
      // Asked of kubelets, not of the API server.
      ...['configz', 'stats', 'log', 'metrics', 'spec', 'proxy'].map((sub) => ({
        group: '',
        resource: `nodes/${sub}`,
        namespaced: false,
      })),
      { group: '*', resource: '*', namespaced: true },
    ];
    const plain = everything.flatMap(({ group, resource, namespaced }) =>
      (namespaced ? ['kubelet-gitops', 'kube-system', 'default'] : ['']).flatMap((namespace) =>
        verbs.map((verb) => ({ verb, group, resource, namespace, name: 'other' })),
      ),
    );
    const special = (
      [
        ['impersonate', '', 'users'],
        ['impersonate', '', 'groups'],
        ['impersonate', '', 'serviceaccounts'],
        ['bind', 'rbac.authorization.k8s.io', 'clusterroles'],
        ['escalate', 'rbac.authorization.k8s.io', 'clusterroles'],
        ['approve', 'certificates.k8s.io', 'signers'],
        ['sign', 'certificates.k8s.io', 'signers'],
        ['use', 'policy', 'podsecuritypolicies'],
      ] as const
    ).map(([verb, group, resource]) => ({ verb, group, resource, namespace: '', name: 'other' }));
    const unique = new Map([...plain, ...special].map((wish) => [JSON.stringify(wish), wish]));
    return [...unique.values()];
  }

  it('refuse what would do harm, request by request', async () => {
    const { cluster } = story;
    const at = '/apis/kubelet-gitops.dev/v1alpha1';
    const attempts: readonly (readonly [string, string])[] = [
      ['GET', '/api/v1/secrets'],
      ['GET', '/api/v1/namespaces/kubelet-gitops/secrets/kubelet-gitops-git'],
      ['GET', '/api/v1/namespaces/kube-system/configmaps/a'],
      ['POST', '/api/v1/namespaces/default/pods'],
      ['POST', '/api/v1/namespaces/default/pods/work/exec?command=id'],
      ['DELETE', '/api/v1/namespaces/default/pods/work'],
      ['DELETE', '/api/v1/nodes/node-a'],
      ['PUT', '/api/v1/nodes/node-a'],
      ['POST', '/api/v1/nodes/node-a/proxy/run/default/work/work'],
      ['POST', '/api/v1/namespaces/kubelet-gitops/serviceaccounts/kubelet-gitops-reconciler/token'],
      ['POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'],
      ['PATCH', '/apis/rbac.authorization.k8s.io/v1/clusterroles/kubelet-gitops-agent'],
      ['PATCH', '/apis/apps/v1/namespaces/kubelet-gitops/daemonsets/kubelet-gitops-agent'],
      ['PATCH', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-a'],
      ['DELETE', `${at}/kubeletnodes`],
      ['PUT', `${at}/kubeletnodes/node-a/status`],
    ];
    const ofAgents: typeof attempts = [
      ['PATCH', `${at}/kubeletnodes/node-a`],
      ['POST', `${at}/kubeletnodes`],
      ['GET', `${at}/kubeletpools`],
      ['PATCH', '/api/v1/nodes/node-a'],
      ['PATCH', '/api/v1/nodes/node-a/status'],
      ['POST', '/api/v1/namespaces/kubelet-gitops/configmaps'],
      ['GET', '/api/v1/namespaces/kubelet-gitops/configmaps'],
      ['POST', '/api/v1/namespaces/default/events'],
    ];
    for (const account of ACCOUNTS) {
      const as = { token: await cluster.serviceAccountToken('kubelet-gitops', account) };
      for (const [method, path] of account === 'kubelet-gitops-agent' ? [...attempts, ...ofAgents] : attempts) {
        const call = { url: `${cluster.url}${path}`, method, ca: cluster.ca, as };
        const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
        const { status, text } = await callHttps({ ...call, contentType, body: {} });
        assert.equal(status, 403, `${account} ${method} ${path}: ${text}`);
      }
    }
  });

  it('say nothing of whose status an agent writes: that is for the admission policy, from 1.30 on', async () => {
    const wish = { verb: 'patch', group: 'kubelet-gitops.dev', resource: 'kubeletnodes/status', namespace: '' };
    assert.equal(await authoriser.may('kubelet-gitops-agent', { ...wish, name: 'another-node' }), true);
  });
});

/** What every account may do: ask what it may do itself. */
const isEverybodys = ({ verb, resource }: AccessRequest): boolean =>
  verb === 'create' && (resource === 'selfsubjectaccessreviews' || resource === 'selfsubjectrulesreviews');

async function inTurns<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<readonly R[]> {
  const answers: R[] = [];
  for (let at = 0; at < items.length; at += 16) answers.push(...(await Promise.all(items.slice(at, at + 16).map(ask))));
  return answers;
}
