import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { goProgram } from '../../support/go-program.ts';
import { without } from '../../support/required-tools.ts';

export const CHART = 'deploy/helm/kubelet-gitops';
/** Without which nothing is rendered. */
export const REQUIRED_VALUES = {
  cluster: 'demo',
  git: { url: 'https://git.example.com/platform/kubelet-config.git' },
} as const;

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

/** Everything but `resources`, which is our deploy directory. */
export type Overlay = Readonly<Record<string, unknown>>;

const kubectl = process.env['KUBECTL'] ?? 'kubectl';
const UNPROVED = 'nothing proves that the chart makes the objects of the kustomization';

/** Helm as its Go module has it, or the one in PATH. */
export const { path: HELM, skip: WITHOUT_HELM } = goProgram('helm', 'helm', UNPROVED, { anyVersion: true });
export const WITHOUT_RENDERERS = WITHOUT_HELM || without(kubectl, ['version', '--client'], UNPROVED);

/** Go programs that end within a second: collecting garbage, and in many threads, is a good part of what they do. */
const env = { ...process.env, GOGC: 'off', GOMAXPROCS: '1' };

/** `helm template`. @throws with what it says */
export function renderChart(values: Readonly<Record<string, unknown>>, kubeVersion = 'v1.34.0'): readonly Manifest[] {
  const where = ['--namespace', 'kubelet-gitops', '--kube-version', kubeVersion];
  const args = ['template', 'kubelet-gitops', CHART, ...where, '--values', '-'];
  const { status, stdout, stderr } = spawnSync(HELM ?? 'helm', args, {
    input: stringify(values),
    encoding: 'utf8',
    env,
  });
  if (status !== 0) throw new Error(stderr);
  return manifestsIn(stdout);
}

/** What was rendered before, by overlay: nothing changes the deploy directory meanwhile. */
const rendered = new Map<string, readonly Manifest[]>();

/** `kubectl kustomize` of our deploy directory with this laid over it. @throws with what it says */
export function renderKustomization(overlay: Overlay): readonly Manifest[] {
  const key = JSON.stringify(overlay);
  const manifests = rendered.get(key) ?? kustomize(overlay);
  rendered.set(key, manifests);
  return manifests;
}

function kustomize(overlay: Overlay): readonly Manifest[] {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-gitops-overlay-'));
  try {
    // kustomize wants relative paths, and a base that does not hold the overlay.
    symlinkSync(join(process.cwd(), 'deploy'), join(directory, 'deploy'));
    mkdirSync(join(directory, 'my-cluster'));
    const kustomization = { kind: 'Kustomization', apiVersion: 'kustomize.config.k8s.io/v1beta1', ...overlay };
    writeFileSync(
      join(directory, 'my-cluster/kustomization.yaml'),
      stringify({ ...kustomization, resources: ['../deploy'] }),
    );
    const { status, stdout, stderr } = spawnSync(kubectl, ['kustomize', join(directory, 'my-cluster')], {
      encoding: 'utf8',
      env,
    });
    if (status !== 0) throw new Error(stderr);
    return manifestsIn(stdout);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const manifestsIn = (text: string): readonly Manifest[] => text.split(/^---$/m).flatMap(manifestsOf);

/** Most objects are the same in every rendering, and to read the definitions takes longer than to render them. */
const read = new Map<string, readonly Manifest[]>();

/** In YAML 1.1, as Kubernetes reads it: 0440 is an octal number. */
function manifestsOf(document: string): readonly Manifest[] {
  const known = read.get(document);
  if (known !== undefined) return known;
  const all = parseAllDocuments(document, { version: '1.1' }).map((each) => each.toJS() as Manifest | null);
  const manifests = all.filter((manifest) => manifest !== null);
  read.set(document, manifests);
  return manifests;
}
