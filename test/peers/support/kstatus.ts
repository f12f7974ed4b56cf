import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { goProgram } from '../../support/go-program.ts';

/** What kstatus calls an object. */
export type Kstatus = 'Current' | 'InProgress' | 'Failed' | 'Terminating' | 'NotFound' | 'Unknown';

export const KSTATUS = goProgram(
  'kstatus',
  'kstatus',
  'nothing proves that kubectl, Flux and others read the status of our objects rightly',
);

/** The real kstatus, asked about an object as an API server serves it. */
export function kstatusOf(object: object): Kstatus {
  assert.ok(KSTATUS.path !== undefined);
  const { status, stdout, stderr } = spawnSync(KSTATUS.path, {
    input: `${JSON.stringify(object)}\n`,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return (JSON.parse(stdout) as { readonly status: Kstatus }).status;
}
