import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';

/** A new directory, which goes with the test, or with the suite around the call. */
export function temporaryDirectory(t?: Pick<TestContext, 'after'>): string {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-gitops-'));
  (t?.after.bind(t) ?? after)(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}
