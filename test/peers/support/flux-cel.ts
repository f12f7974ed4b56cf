import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { parse } from 'yaml';
import { fencedBlocks } from '../../support/fenced-blocks.ts';
import { goProgram } from '../../support/go-program.ts';
import type { Kstatus } from './kstatus.ts';

export const FLUX_CEL = goProgram(
  'flux-cel',
  'flux-cel',
  'nothing proves that Flux reads the expressions of docs/events.md rightly',
);

type Expressions = Readonly<Record<'kind' | 'inProgress' | 'failed' | 'current', string>>;

interface Kustomization {
  readonly kind?: string;
  readonly spec: { readonly healthCheckExprs: readonly Expressions[] };
}

/** What docs/events.md has people write. */
const EXPRESSIONS = fencedBlocks('docs/events.md', 'yaml')
  .map((text) => parse(text, { merge: true }) as Kustomization)
  .flatMap(({ kind, spec }) => (kind === 'Kustomization' ? spec.healthCheckExprs : []));

/** What Flux's own library makes of an object by the expressions for its kind. */
export function fluxHealthOf(object: { readonly kind?: string }): Kstatus {
  assert.ok(FLUX_CEL.path !== undefined);
  const exprs = EXPRESSIONS.find(({ kind }) => kind === object.kind);
  assert.ok(exprs !== undefined, object.kind);
  const { status, stdout, stderr } = spawnSync(FLUX_CEL.path, {
    input: `${JSON.stringify({ exprs, object })}\n`,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const said = JSON.parse(stdout) as { readonly status: Kstatus; readonly error?: string };
  assert.equal(said.error, undefined);
  return said.status;
}
