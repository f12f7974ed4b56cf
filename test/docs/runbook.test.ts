import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { COMMANDS } from '#cli/commands.ts';
import { parseCommandLine } from '#cli/parse.ts';

const RUNBOOK = readFileSync('docs/operate.md', 'utf8');

/** Words that operators meet, where the union type of them is declared. */
const UNIONS = [
  { type: 'FailureReason', file: 'agent/decide/failure.ts' },
  { type: 'NodePhase', file: 'shared/contract/api/kubelet-node.ts' },
  { type: 'PoolPhase', file: 'shared/contract/api/kubelet-pool.ts' },
  { type: 'RefusalReason', file: 'reconciler/policy/in-force/refuse-commit.ts' },
  { type: 'GitErrorCode', file: 'reconciler/git/errors.ts' },
  { type: 'KubeErrorCode', file: 'shared/kube/kube-error.ts' },
  { type: 'WebErrorCode', file: 'reconciler/cluster/blockers/web.ts' },
];

/** Members of a union of string literals; comments between them may hold anything but a semicolon at a line's end. */
function membersOf(type: string, file: string): readonly string[] {
  const source = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const declaration = new RegExp(`type ${type} =([^;]*);`).exec(source)?.[1] ?? '';
  return [...declaration.matchAll(/'([^']+)'/g)].map(([, member = '']) => member);
}

describe('the page about commit statuses', () => {
  it('has a line for every ForgeErrorCode', () => {
    const page = readFileSync('docs/commit-statuses.md', 'utf8');
    const members = membersOf('ForgeErrorCode', 'reconciler/telling/forge/errors.ts');
    assert.ok(members.length > 5);
    assert.deepEqual(
      members.filter((member) => !page.includes(`\`${member}\``)),
      [],
    );
  });
});

describe('the page about rollouts', () => {
  it('has a line for every HoldReason', () => {
    const page = readFileSync('docs/rollouts.md', 'utf8');
    const members = membersOf('HoldReason', 'reconciler/policy/rollout/holds/hold.ts');
    assert.ok(members.length > 10);
    assert.deepEqual(
      members.filter((member) => !page.includes(`\`${member}\``)),
      [],
    );
  });
});

describe('the runbook', () => {
  for (const { type, file } of UNIONS) {
    it(`has a line for every ${type}`, () => {
      const members = membersOf(type, file);
      assert.ok(members.length >= 3, `${file} declares no ${type}`);
      assert.deepEqual(
        members.filter((member) => member !== 'Settled' && !RUNBOOK.includes(`\`${member}\``)),
        [],
      );
    });
  }
});

describe('the runbooks of alerts', () => {
  const pages = globSync('docs/runbooks/*.md').sort();

  for (const page of pages.filter((path) => !path.endsWith('README.md'))) {
    it(`${page}: says what it means and costs, where to look, how to fix it, and when it is over`, () => {
      const text = readFileSync(page, 'utf8');
      const parts = ['**Means.**', '**Impact.**', '## Look', '## Fix', '## Over'].map((part) =>
        text.indexOf(`\n${part}`),
      );
      assert.ok(
        parts.every((at, index) => at > (parts[index - 1] ?? 0)),
        parts.join(),
      );
    });

    it(`${page}: names commands that there are`, () => {
      const commands = readFileSync(page, 'utf8').matchAll(/(?:^|`|\$ )kubelet-gitops ([^`|#\n]+)/gm);
      for (const [, words = ''] of commands) {
        const line = parseCommandLine(words.trim().split(/ +/), COMMANDS);
        assert.equal(line.line, 'run', `${words}: ${line.line === 'mistake' ? line.message : line.line}`);
      }
    });
  }
});
