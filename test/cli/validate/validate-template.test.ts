import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { validateConfigFile } from '#cli/validate/validate-file.ts';
import { formatFinding } from '#shared/contract/finding.ts';
import { run } from '../support/run.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const HEAD = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ComputedKubeletConfiguration\n';

const judge = (text: string, ...minors: readonly string[]) =>
  validateConfigFile('sizes.yaml', Buffer.from(text), minors);
const linesOf = (text: string): readonly string[] => judge(text, '1.36').findings.map(formatFinding);

describe('a single file with computed values', () => {
  for (const profile of ['gke', 'eks', 'aks', 'openshift']) {
    it(`is right where it says profile ${profile}`, () => {
      assert.deepEqual(linesOf(`${HEAD}profile: ${profile}\n`), []);
      assert.deepEqual(judge(`${HEAD}profile: ${profile}\n`, '1.30', '1.36').verdicts, {
        '1.30': 'accept',
        '1.36': 'accept',
      });
    });
  }

  for (const [what, text, wanted] of [
    [
      'an unknown variable',
      "computed:\n  systemReserved:\n    memory: 'memry * 0.05'\n",
      /^sizes\.yaml:5:5: error bad-expression: systemReserved\.memory: Unknown variable: memry, at character 1 of the expression \(did you mean memory\?\)$/,
    ],
    [
      'a variable that nothing is like',
      "computed: {systemReserved: {memory: 'memory * sockets'}}\n",
      /^sizes\.yaml:3:29: .*Unknown variable: sockets, at character 10 of the expression \(known are cpu, milliCpu, memory,/,
    ],
    [
      'an unknown function',
      "computed: {systemReserved: {memory: 'mx(memory, memory)'}}\n",
      /^sizes\.yaml:3:29: .*there is no function mx, at character 1 of the expression \(did you mean m\w+\?\)$/,
    ],
    [
      'a slip in the syntax',
      "computed:\n  maxPods: '110 +'\n",
      /^sizes\.yaml:4:3: error bad-expression: maxPods: .* at character \d+ of the expression$/,
    ],
    ['a type that the field does not take', "computed:\n  maxPods: 'memory'\n", /^sizes\.yaml:4:3: error wrong-type: /],
    [
      'a field that kubelets do not know',
      "computed:\n  maxPodz: '110'\n",
      /^sizes\.yaml:4:3: error unknown-field: .*maxPods/,
    ],
    [
      'a key that the file has not',
      'profile: gke\nbound: {}\n',
      /^sizes\.yaml:4:1: error unknown-field: .*did you mean bounds/,
    ],
    ['a profile that is none', 'profile: gkee\n', /^sizes\.yaml:3:1: error unknown-profile: .*did you mean gke/],
    [
      'a machine that gets nothing',
      'computed:\n  systemReserved:\n    memory: \'memory - quantity("8Gi")\'\n',
      /^sizes\.yaml:5:5: warning not-computable: for machines with memory=4096Mi, /,
    ],
    [
      'reservations that take all',
      "computed: {systemReserved: {memory: 'memory'}}\n",
      /^sizes\.yaml.*: warning not-computable: for machines with memory=4096Mi, the reservations keep back/,
    ],
    ['nothing computed', '', /^sizes\.yaml.*: error missing-field: it computes nothing/],
  ] as const) {
    it(`is told with its place of ${what}`, () => {
      const lines = linesOf(`${HEAD}${text}`);
      assert.match(lines[0] ?? 'nothing was found', wanted);
    });
  }

  it('is judged for the versions that are asked about', () => {
    const text = `${HEAD}computed:\n  containerLogMaxWorkers: 'milliCpu / 1000'\n`;
    assert.deepEqual(judge(text, '1.29', '1.30').verdicts, { '1.29': 'reject', '1.30': 'accept' });
  });

  it('is found by its name and in a directory', async (t) => {
    const directory = temporaryDirectory(t);
    const path = join(directory, 'sizes.yaml');
    await writeFile(path, `${HEAD}computed: {maxPods: 'memry'}\n`);
    await writeFile(join(directory, 'other.yaml'), 'kind: Computed\n');
    for (const where of [path, directory]) {
      const { code, out } = await run('validate', where);
      assert.equal(code, 1, out);
      assert.match(out, /sizes\.yaml:3:12: error bad-expression: maxPods: Unknown variable: memry/);
      assert.doesNotMatch(out, /other\.yaml|wrong-kind/);
    }
    await writeFile(path, `${HEAD}profile: gke\n`);
    assert.deepEqual(await run('validate', path), { code: 0, out: '1 file: nothing found\n', err: '' });
  });

  it('leaves all other files to those who judge them', () => {
    const [first] = judge('kind: ComputedKubeletConfigurations\n', '1.36').findings;
    assert.equal(first?.code, 'wrong-kind');
    const text = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 110\n';
    assert.deepEqual(judge(text, '1.36').findings, []);
  });
});
