import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse, stringify } from 'yaml';
import { type DistributionName, DISTRIBUTIONS } from '#shared/contract/distributions.ts';

const ROOT = `${import.meta.dirname}/../..`;
const CHART = 'deploy/helm/kubelet-gitops';
const TEMPLATES = `${CHART}/templates`;
const read = (file: string): string => readFileSync(`${ROOT}/${file}`, 'utf8');

/** What is always installed, or under a value of its own; the workloads and the settings are templates by hand. */
const ALWAYS: Readonly<Record<string, string | null>> = {
  'namespace/namespace.yaml': 'namespace.create',
  'crds/kubeletnodes.yaml': 'crds.install',
  'crds/kubeletpools.yaml': 'crds.install',
  'crds/kubeletsources.yaml': 'crds.install',
  'rbac/reconciler.yaml': null,
  'rbac/agent.yaml': null,
};

/**
 * The chart's templates of all objects that do not depend on values: those of the manifests, in the release's namespace.
 * A component's objects are made where the value `<component in camel case>.enabled` is true.
 */
export function generateChart(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const [file, value] of Object.entries(ALWAYS)) {
    files.set(`${TEMPLATES}/${file.replace('/', '-')}`, template(`deploy/${file}`, value));
  }
  for (const component of componentNames()) {
    for (const resource of kustomizationOf(component).resources ?? []) {
      const path = `deploy/components/${component}/${resource}`;
      files.set(`${TEMPLATES}/${component}-${basename(resource)}`, template(path, `${valueOf(component)}.enabled`));
    }
    for (const generated of kustomizationOf(component).configMapGenerator ?? []) {
      files.set(`${TEMPLATES}/${component}-${generated.name}.yaml`, configMap(component, generated));
    }
  }
  files.set(`${CHART}/distributions.json`, `${JSON.stringify(DISTRIBUTIONS, null, 2)}\n`);
  return files;
}

/** What a distribution cannot do without: there, no pod of a critical priority is made in a namespace without a quota for it. */
export const NEEDED: Readonly<Partial<Record<DistributionName, string>>> = { gke: 'critical-pods-quota' };

/** What is on by default, and which minor of the API server it takes: older ones do not know the kind. */
const OLDEST: Readonly<Record<string, string>> = { 'admission.enabled': '1.30' };

/** The folders below deploy/components that have a value of their own: distributions are words of the value `distribution`. */
export const componentNames = (): readonly string[] =>
  globSync('deploy/components/*', { cwd: ROOT })
    .map((path) => basename(path))
    .filter((name) => !(name in DISTRIBUTIONS))
    .sort();

/** `events-before-1.23` → `eventsBefore123` */
export const valueOf = (component: string): string =>
  component.replaceAll('.', '').replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

interface Kustomization {
  readonly resources?: readonly string[];
  readonly configMapGenerator?: readonly GeneratedConfigMap[];
}
interface GeneratedConfigMap {
  readonly name: string;
  /** `key=file` */
  readonly files: readonly string[];
  readonly options: { readonly labels: Readonly<Record<string, string>> };
}

const kustomizationOf = (component: string): Kustomization =>
  parse(read(`deploy/components/${component}/kustomization.yaml`)) as Kustomization;

/** As kustomize makes it, from files and with its labels. */
function configMap(component: string, { name, files, options }: GeneratedConfigMap): string {
  const source = `deploy/components/${component}`;
  const data = files.map((entry) => {
    const [key = '', file = ''] = entry.split('=');
    return [key, read(`${source}/${file}`)] as const;
  });
  const metadata = { name, namespace: 'kubelet-gitops', labels: options.labels };
  const text = stringify(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: Object.fromEntries(data) },
    { blockQuote: 'literal', lineWidth: 0 },
  );
  return templateOf(text, `${source}/kustomization.yaml`, `${valueOf(component)}.enabled`);
}

/** What stands in double braces in a manifest is for another program than Helm. */
const escaped = (text: string): string => text.replaceAll('{{', '{{ "{{" }}');

const template = (source: string, value: string | null): string => templateOf(read(source), source, value);

function templateOf(manifest: string, source: string, value: string | null): string {
  const text = escaped(manifest)
    .replaceAll('namespace: kubelet-gitops\n', 'namespace: {{ .Release.Namespace }}\n')
    .replace(/(kind: Namespace\nmetadata:\n  name:) .*/, '$1 {{ .Release.Namespace }}')
    .replaceAll('system:serviceaccount:kubelet-gitops:', 'system:serviceaccount:{{ .Release.Namespace }}:')
    .replaceAll('metadata.name: kubelet-gitops\n', 'metadata.name: {{ .Release.Namespace }}\n');
  const origin = `{{- /* Made from ${source} by scripts/generate.ts: change it there. */}}\n`;
  if (value === null) return `${origin}${text}`;
  const oldest = OLDEST[value];
  const [distribution] = Object.entries(NEEDED).find(([, name]) => `${valueOf(name)}.enabled` === value) ?? [];
  const enabled =
    distribution === undefined
      ? `.Values.${value}`
      : `or .Values.${value} (eq .Values.distribution ${JSON.stringify(distribution)})`;
  const condition =
    oldest === undefined
      ? enabled
      : `and .Values.${value} (semverCompare ">=${oldest}-0" .Capabilities.KubeVersion.Version)`;
  return `${origin}{{- if ${condition} }}\n${text}{{- end }}\n`;
}
