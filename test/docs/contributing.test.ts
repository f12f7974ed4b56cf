import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const TEXT = readFileSync('CONTRIBUTING.md', 'utf8');
const CODE = [...TEXT.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

/** Where our own files are. */
const OURS = globSync('*/').filter((folder) => folder !== 'node_modules' && folder !== 'dist');

describe('the guide for contributors', () => {
  it('names files and folders that there are', () => {
    const paths = CODE.flatMap((code) => code.split(' ')).filter((word) =>
      OURS.some((folder) => word.startsWith(`${folder}/`)),
    );
    assert.ok(paths.length > 60, `${paths.length} paths`);
    assert.deepEqual(
      paths.filter((path) => !existsSync(path)),
      [],
    );
  });

  it('names scripts that there are', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: object };
    const named = CODE.flatMap((code) =>
      [...code.matchAll(/npm (?:run (\S+)|(test)\b)/g)].map(([, run, test]) => run ?? test ?? ''),
    );
    assert.ok(named.length > 10, `${named.length} scripts`);
    assert.deepEqual(
      named.filter((name) => !Object.hasOwn(scripts, name)),
      [],
    );
  });

  it('names things that the files it names them in have', () => {
    const pairs: readonly (readonly [name: string, file: string])[] = [
      ['NEWEST_MINOR', 'shared/contract/kubelet-config/minor.ts'],
      ['isOnlyHeartbeat', 'reconciler/cluster/object-views.ts'],
      ['BLOCKERS', 'scripts/generate/rollout-schema.ts'],
      ['CHECKS', 'agent/preflight/preflight.ts'],
      ['ClusterEvent', 'reconciler/reporting/events/cluster-event.ts'],
      ['KUBELET_VERDICTS', 'test/shared/contract/kubelet-config/verdict.test.ts'],
      ['UPDATE_DOCS', 'test/docs/cli.test.ts'],
    ];
    for (const [name, file] of pairs) {
      assert.ok(
        CODE.some((code) => code.includes(name)),
        `${name} is not in CONTRIBUTING.md`,
      );
      assert.match(readFileSync(file, 'utf8'), new RegExp(String.raw`\b${name}\b`));
    }
  });
});
