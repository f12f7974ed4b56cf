import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { COMMANDS } from '#cli/commands.ts';
import { parseCommandLine } from '#cli/parse-command-line.ts';

const RUNBOOK = readFileSync('docs/operate.md', 'utf8');

/** Words that operators meet, where the union type of them is declared. */
const UNIONS = [
  { type: 'FailureReason', file: 'agent/decide/failure.ts' },
  { type: 'NodePhase', file: 'shared/contract/api/kubelet-node.ts' },
  { type: 'PoolPhase', file: 'shared/contract/api/kubelet-pool.ts' },
  { type: 'RefusalReason', file: 'reconciler/policy/commit-admission/refuse-commit.ts' },
  { type: 'GitErrorCode', file: 'reconciler/git/errors.ts' },
  { type: 'KubeErrorCode', file: 'shared/kube/kube-error.ts' },
  { type: 'WebErrorCode', file: 'reconciler/cluster/blockers/web-get.ts' },
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
    const members = membersOf('ForgeErrorCode', 'reconciler/reporting/forge/errors.ts');
    assert.ok(members.length > 5);
    assert.deepEqual(
      members.filter((member) => !page.includes(`\`${member}\``)),
      [],
    );
  });
});

describe('the page about notifications', () => {
  it('has a line for every NotificationErrorCode, and for a file that cannot be used', () => {
    const page = readFileSync('docs/notifications.md', 'utf8');
    const members = membersOf('NotificationErrorCode', 'reconciler/reporting/notifications/errors.ts');
    assert.ok(members.length > 5);
    assert.deepEqual(
      [...members, 'NOTIFICATIONS_INVALID'].filter((member) => !page.includes(`\`${member}\``)),
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

/** The reconciler's log, where a runbook searches it, and the file that writes what is to be found. */
const SEARCHES = {
  GitStale: 'reconciler/branch.ts',
  NotesNotWritten: 'reconciler/reporting/notes/notes-writer.ts',
  NotificationsNotSent: 'reconciler/reporting/notifications/notifier.ts',
  PassesFail: 'reconciler/reconciler.ts',
  StatusesNotPosted: 'reconciler/reporting/forge/forge-status-writer.ts',
  WritesRefused: 'reconciler/cluster/apply.ts',
};

describe('the runbooks of alerts', () => {
  it('search the log for what the reconciler writes', () => {
    const found = globSync('docs/runbooks/*.md')
      .sort()
      .flatMap((page) => {
        const [, option, words = ''] =
          /logs deployment\/\S+ --since=\dh \| grep (-i )?(\w+|'[^']+')/.exec(readFileSync(page, 'utf8')) ?? [];
        return words === '' ? [] : [[/KubeletGitops(\w+)/.exec(page)?.[1], option, words.replaceAll("'", '')] as const];
      });
    assert.deepEqual(
      found.map(([alert]) => alert),
      Object.keys(SEARCHES),
    );
    for (const [alert = '', option, words] of found) {
      const source = readFileSync(SEARCHES[alert as keyof typeof SEARCHES], 'utf8');
      const lines = [...source.matchAll(/log(?:\.warn|\.error|\[[^\]]+\])\([^\n]*'([^']+)'\)/g)].map(
        ([, said = '']) => said,
      );
      assert.ok(
        lines.some((said) => new RegExp(words, option === undefined ? '' : 'i').test(said)),
        `${alert}: ${words}: ${lines.join('; ')}`,
      );
    }
  });

  const pages = globSync('docs/runbooks/*.md').sort();

  for (const page of pages.filter((path) => !path.endsWith('README.md'))) {
    it(`${page}: has commands that a shell can read`, () => {
      const blocks = [...readFileSync(page, 'utf8').matchAll(/^```sh\n([^`]*)```$/gm)].map(([, block = '']) => block);
      assert.ok(blocks.length > 0);
      for (const block of blocks) {
        const { status, stderr } = spawnSync('sh', ['-n'], { input: block, encoding: 'utf8' });
        assert.equal(status, 0, `${block}\n${stderr}`);
      }
    });

    it(`${page}: links to what it names from the root, wherever it is rendered`, () => {
      const targets = [...readFileSync(page, 'utf8').matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target);
      assert.deepEqual(
        targets.filter((target) => !/^(?:\/docs\/|https:)/.test(target)),
        [],
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
