import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { lockedPackages } from './generate/licences-page.ts';

/** As much of a CycloneDX document as is looked at here. */
export interface BillOfMaterials {
  readonly bomFormat: string;
  /** What the bill is of. */
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly name: string;
    readonly version: string;
    readonly purl: string;
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/**
 * What the lockfile pins of what may be shipped. Written by npm, less the tools: with `--omit dev`, npm 11 leaves out as well what
 * is shipped and is needed by a tool besides.
 */
export function billOfMaterials(): BillOfMaterials {
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
  const options = { encoding: 'utf8', stdio: 'pipe', maxBuffer: 64 * 1024 * 1024 } as const;
  const whole = JSON.parse(execFileSync('npm', args, options)) as BillOfMaterials;
  const shipped = new Set(
    lockedPackages()
      .filter(({ dev }) => !dev)
      .map(({ name, version }) => `${name}@${version}`),
  );
  const components = whole.components.filter(({ purl }) =>
    shipped.has(decodeURIComponent(purl).replace('pkg:npm/', '')),
  );
  const refs = new Set(components.map((component) => component['bom-ref']));
  const isKept = (ref: string): boolean => refs.has(ref) || !whole.components.some((each) => each['bom-ref'] === ref);
  const dependencies = whole.dependencies
    .filter(({ ref }) => isKept(ref))
    .map((each) => ({ ...each, dependsOn: each.dependsOn.filter(isKept) }));
  // npm calls it what the directory is called.
  const component = { ...whole.metadata.component, name: packageName() };
  const metadata = { ...whole.metadata, component };
  return withoutChance({ ...whole, metadata, components, dependencies });
}

/** The same lockfile gives the same bill: npm dates each, and gives it a number of its own. */
function withoutChance(bill: BillOfMaterials): BillOfMaterials {
  const { serialNumber: _number, ...rest } = bill as BillOfMaterials & { readonly serialNumber?: string };
  const { timestamp: _time, ...metadata } = rest.metadata as typeof rest.metadata & { readonly timestamp?: string };
  return { ...rest, metadata };
}

function packageName(): string {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { readonly name: string }).name;
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(billOfMaterials(), null, 2)}\n`);
