import { globSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { stringify } from 'yaml';

const ROOT = `${import.meta.dirname}/../..`;
const SCRIPTS = 'deploy/argocd/resource_customizations/*/*/health.lua';

/** The health checks for Argo CD as a patch of its settings. */
export function generateArgoCd(): ReadonlyMap<string, string> {
  const data = globSync(SCRIPTS, { cwd: ROOT })
    .sort()
    .map((path) => [
      `resource.customizations.health.${basename(dirname(dirname(path)))}_${basename(dirname(path))}`,
      readFileSync(`${ROOT}/${path}`, 'utf8'),
    ]);
  const text = stringify({ data: Object.fromEntries(data) }, { blockQuote: 'literal', lineWidth: 0 });
  const origin = '# Made from the scripts in resource_customizations by scripts/generate.ts: change them there.\n';
  return new Map([['deploy/argocd/argocd-cm.yaml', `${origin}${text}`]]);
}
