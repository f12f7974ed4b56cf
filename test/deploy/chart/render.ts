import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { without } from '../../support/needs.ts';

export const CHART = 'deploy/helm/kubelet-gitops';
const RENDERER = join(import.meta.dirname, 'helm-template');

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

/** Everything but `resources`, which is our deploy directory. */
export type Overlay = Readonly<Record<string, unknown>>;

const helm = spawnSync('helm', ['version'], { stdio: 'ignore' }).error === undefined;
const kubectl = process.env['KUBECTL'] ?? 'kubectl';

/** Where Debian's packages have what our renderer is made of: golang-github-masterminds-sprig-dev and so on, see .ci/run. */
const GOPATH = '/usr/share/gocode';
const LIBRARIES = ['github.com/Masterminds/sprig', 'github.com/xeipuuv/gojsonschema', 'sigs.k8s.io/yaml'];
const UNPROVED = 'nothing proves that the chart makes the objects of the kustomization';

export const WITHOUT_RENDERERS = (!helm && withoutOurs()) || without(kubectl, ['version', '--client'], UNPROVED);

function withoutOurs(): string | false {
  const missing = LIBRARIES.filter((library) => !existsSync(join(GOPATH, 'src', library)));
  if (missing.length === 0) return without('go', ['version'], UNPROVED);
  const reason = `neither helm nor ${missing.join(', ')} below ${GOPATH}: ${UNPROVED}`;
  if (process.env['CI'] === 'true') throw new Error(`CI has to install them: ${reason}`);
  return `SKIPPED: ${reason}`;
}

/** `helm template`, by helm where it is installed, otherwise by what it is made of: see helm-template/main.go. @throws with what it says */
export function renderChart(values: Readonly<Record<string, unknown>>): readonly Manifest[] {
  const [program = '', ...args] = helm
    ? ['helm', 'template', 'kubelet-gitops', CHART, '--namespace', 'kubelet-gitops', '--values', '-']
    : [ourRenderer(), CHART, 'kubelet-gitops'];
  const { status, stdout, stderr } = spawnSync(program, args, { input: stringify(values), encoding: 'utf8' });
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

/** Compiled once for its source: a second takes half a minute on a busy machine. */
function ourRenderer(): string {
  const hash = createHash('sha256')
    .update(readFileSync(join(RENDERER, 'main.go')))
    .digest('hex');
  const cache = process.env['KUBELET_GITOPS_CACHE'] ?? join(homedir(), '.cache/kubelet-gitops');
  const program = join(cache, `helm-template-${hash.slice(0, 12)}`);
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const made = `${program}.${process.pid}`;
  const env = { ...process.env, GO111MODULE: 'off', GOPATH };
  execFileSync('go', ['build', '-o', made, '.'], { cwd: RENDERER, env });
  renameSync(made, program);
  return program;
}
