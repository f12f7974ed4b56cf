import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { parse } from 'yaml';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { ARGO_LUA, argoHealthOf, customizationOf } from './support/argo-lua.ts';

/** As Argo CD's own tests read them. */
interface HealthTests {
  readonly tests: readonly {
    readonly healthStatus: { readonly status: string; readonly message: string };
    readonly inputPath: string;
  }[];
}

const unseen = (kind: string): object => ({ kind, metadata: { name: 'x', generation: 1 } });

describeOrSkip(
  'the health checks for Argo CD, by the tests that are shipped beside them',
  { skip: ARGO_LUA.skip },
  () => {
    for (const kind of ['KubeletPool', 'KubeletNode', 'KubeletSource']) {
      const folder = customizationOf(kind);
      const { tests } = parse(readFileSync(new URL('health_test.yaml', folder), 'utf8')) as HealthTests;
      for (const { inputPath, healthStatus } of tests) {
        it(`${kind}: ${inputPath} is ${healthStatus.status}`, () => {
          const object = parse(readFileSync(new URL(inputPath, folder), 'utf8')) as { readonly kind: string };
          assert.equal(object.kind, kind);
          assert.deepEqual(argoHealthOf(object), healthStatus);
        });
      }
      it(`${kind}: every file is tested, and an object without a status waits`, () => {
        const files = readdirSync(new URL('testdata', folder)).map((name) => `testdata/${name}`);
        assert.deepEqual(tests.map(({ inputPath }) => inputPath).toSorted(), files.toSorted());
        assert.equal(argoHealthOf(unseen(kind)).status, 'Progressing');
      });
    }
  },
);
