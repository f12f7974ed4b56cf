import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { goProgram } from '../../support/go-program.ts';
import type { Kstatus } from './kstatus.ts';

/** What Argo CD calls an object. */
export interface ArgoHealth {
  readonly status: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended';
  readonly message: string;
}

export const ARGO_LUA = goProgram(
  'argo-lua',
  'argo-lua',
  'nothing proves that the health checks for Argo CD run in the Lua that it runs them in',
);

const FOLDER = new URL('../../../deploy/argocd/resource_customizations/kubelet-gitops.dev/', import.meta.url);

/** The folder of a kind, as Argo CD's own repository has them. */
export const customizationOf = (kind: string): URL => new URL(`${kind}/`, FOLDER);

/** What the shipped script of the object's kind makes of it, in the library that Argo CD runs scripts in. */
export function argoHealthOf(object: { readonly kind?: string }): ArgoHealth {
  assert.ok(ARGO_LUA.path !== undefined);
  const script = readFileSync(new URL('health.lua', customizationOf(object.kind ?? '')), 'utf8');
  const { status, stdout, stderr } = spawnSync(ARGO_LUA.path, {
    input: `${JSON.stringify({ script, object })}\n`,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const said = JSON.parse(stdout) as ArgoHealth & { readonly error?: string };
  assert.equal(said.error, undefined);
  return said;
}

/** What Argo CD is to call what kstatus calls so. It asks no script about what is being deleted. */
export const ARGO: Readonly<Partial<Record<Kstatus, ArgoHealth['status']>>> = {
  Current: 'Healthy',
  InProgress: 'Progressing',
  Failed: 'Degraded',
};
