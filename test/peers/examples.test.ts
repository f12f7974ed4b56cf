import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { goProgram, type GoProgram } from '../support/go-program.ts';

const UNPROVED = (what: string): string => `nothing proves that ${what} as they are in deploy/examples`;
const ALERTMANAGER = goProgram('alertmanager-config', 'alertmanager-config', UNPROVED('Alertmanager takes its routes'));
const FLUX = goProgram('flux-objects', 'flux-objects', UNPROVED('Flux knows the fields of its objects'));
const ARGO = goProgram('argo-application', 'argo-application', UNPROVED('Argo CD knows the fields of an Application'));

interface Said {
  readonly kind?: string;
  readonly receivers?: readonly (readonly string[])[];
  readonly texts?: readonly Readonly<Record<string, string>>[];
  readonly error?: string;
}

function ask({ path }: GoProgram, questions: readonly unknown[]): readonly Said[] {
  assert.ok(path !== undefined);
  const input = questions.map((one) => `${JSON.stringify(one)}\n`).join('');
  const { status, stdout, stderr } = spawnSync(path, { input, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Said);
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: object;
}

const documents = (name: string): readonly Manifest[] =>
  parseAllDocuments(readFileSync(`deploy/examples/${name}`, 'utf8'), { merge: true }).map(
    (one) => one.toJS() as Manifest,
  );

interface Alert {
  readonly alert: string;
  readonly labels: { readonly severity: string };
}

const ALERTS = (
  parse(readFileSync('deploy/components/monitoring/prometheus-rule.yaml', 'utf8')) as {
    readonly spec: { readonly groups: readonly { readonly rules: readonly Alert[] }[] };
  }
).spec.groups.flatMap(({ rules }) => rules.filter(({ alert }) => alert !== undefined));

describeOrSkip('the example of Alertmanager, in its own code', { skip: ALERTMANAGER.skip }, () => {
  const config = readFileSync('deploy/examples/alertmanager.yaml', 'utf8');
  const reached = (alerts: readonly object[], text = config): Said | undefined =>
    ask(ALERTMANAGER, [{ config: text, alerts }])[0];

  it('leads every alert of ours to where its severity belongs', () => {
    const WHERE: Readonly<Record<string, string>> = {
      critical: 'kubelet-gitops-pager',
      warning: 'kubelet-gitops-channel',
      info: 'kubelet-gitops-info',
    };
    assert.ok(ALERTS.length > 20);
    const said = reached(ALERTS.map(({ alert, labels }) => ({ alertname: alert, severity: labels.severity })));
    assert.equal(said?.error, undefined);
    assert.deepEqual(
      said?.receivers,
      ALERTS.map(({ labels }) => [WHERE[labels.severity]]),
    );
  });

  it('leads no other alert anywhere', () => {
    assert.deepEqual(reached([{ alertname: 'KubeletDown', severity: 'critical' }])?.receivers, [['nobody']]);
  });

  it('says something of every alert in every text, of one and of several that have nothing in common', () => {
    const groups = ALERTS.flatMap(({ alert, labels }) =>
      [1, 2, 3].map((many) => ({
        config,
        alerts: Array.from({ length: many }, (_, n) => ({
          alertname: alert,
          severity: labels.severity,
          node: `n${n}`,
        })),
        annotations: Array.from({ length: many }, (_, n) => ({
          summary: `summary ${n} <!channel>`,
          description: `what it means ${n}`,
          runbook_url: 'https://git.example.com/x.md',
        })),
      })),
    );
    ask(ALERTMANAGER, groups).forEach(({ texts = [], error }, index) => {
      const many = groups[index]?.alerts.length ?? 0;
      assert.equal(error, undefined);
      const [{ title, text, description, impact, runbook } = {}] = texts;
      if (title === undefined) {
        assert.match(description ?? '', many === 1 ? /^summary 0 <!channel>$/ : /^summary 0 .*summary 1 /);
        for (let n = 0; n < many; n += 1) assert.match(impact ?? '', new RegExp(`what it means ${n}`));
        assert.equal(runbook, 'https://git.example.com/x.md');
        return;
      }
      assert.match(
        title,
        many === 1 ? /^\[firing\] summary 0 \S+$/ : new RegExp(`summary 0 \\S+ and ${many - 1} more$`),
      );
      for (let n = 0; n < many; n += 1) assert.match(text ?? '', new RegExp(`summary ${n} .*what it means ${n}`));
      // An author, a commit or a field may have any name, and must call nobody.
      assert.doesNotMatch(`${title}${text}`, /<!/);
    });
  });

  it('lets the alert of one cluster quieten none of another, where several share an Alertmanager', () => {
    const { inhibit_rules: rules, route } = parse(config, { merge: true }) as {
      readonly inhibit_rules: readonly { readonly equal?: readonly string[] }[];
      readonly route: { readonly routes: readonly { readonly group_by: readonly string[] }[] };
    };
    assert.ok(rules.length > 0);
    for (const { equal = [] } of rules) assert.ok(equal.includes('cluster'));
    for (const { group_by: by } of route.routes) assert.ok(by.includes('cluster'));
  });

  it('would be refused with a key that Alertmanager does not know', () => {
    assert.match(reached([], config.replace('routing_key_file', 'routing_keyfile'))?.error ?? '', /routing_keyfile/);
  });

  it('speaks of alerts that there are', () => {
    const names = ALERTS.map(({ alert }) => alert);
    for (const [, name = ''] of config.matchAll(/alertname = (\w+)/g)) assert.ok(names.includes(name), name);
  });
});

const EXAMPLES: readonly (readonly [name: string, program: GoProgram, isIts: (manifest: Manifest) => boolean])[] = [
  ['flux-kustomization.yaml', FLUX, () => true],
  ['flux-helmrelease.yaml', FLUX, ({ kind }) => kind !== 'Namespace'],
  ['notifications-flux.yaml', FLUX, ({ kind }) => kind !== 'ConfigMap'],
  ['argocd-application.yaml', ARGO, () => true],
];

describe('an example of objects of others, in the types of their own programs', () => {
  for (const [name, program, isIts] of EXAMPLES) {
    it(`has only fields that there are: ${name}`, { skip: program.skip }, () => {
      const objects = documents(name).filter(isIts);
      assert.ok(objects.length > 0);
      assert.deepEqual(
        ask(program, objects),
        objects.map(({ kind }) => ({ kind })),
      );
      const wrong = objects.map((object) => ({ ...object, spec: { ...object.spec, nothing: 1 } }));
      for (const { error } of ask(program, wrong)) assert.match(error ?? '', /nothing/);
    });
  }
});
