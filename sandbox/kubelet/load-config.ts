import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatFinding } from '#shared/contract/finding.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';
import { minorName } from '#shared/contract/kubelet-config/minor.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { withDefaults, withEvictionDefaults } from './defaults.ts';
import { knownFields } from './known-fields.ts';

type Config = Readonly<Record<string, unknown>>;

export type Loaded = { readonly config: Config } | { readonly fatal: string };

/** Kubelets before know no `--config-dir`. */
const FIRST_MINOR_WITH_DROP_INS = 28;

/** Findings about what a kubelet drops or does without, with no more than a line in its log. */
const FORGIVEN: ReadonlySet<string> = new Set(['unknown-field', 'wrong-case', 'no-effect', 'eviction-switched-off']);

/**
 * Reads the config as a kubelet does at its start: the file, its defaults, then each `*.conf` below the drop-in directory
 * in lexical order as a merge patch, defaults again, and then the judgement on the result. It shares no merging with the
 * code that installs configs: where both agree on what a node runs, that means something.
 *
 * @param minor 34 for a kubelet 1.34
 * @returns the config with its defaults, or what the kubelet says before it exits
 */
export async function loadConfig(
  configFile: string,
  dropInDirectory: string | undefined,
  minor: number,
): Promise<Loaded> {
  const base = await readConfigFile(configFile, minor);
  if ('fatal' in base) return base;
  let config = withEvictionDefaults(withDefaults(base.config, minor), minor);
  const dropIns = minor < FIRST_MINOR_WITH_DROP_INS ? [] : await dropInsBelow(dropInDirectory).catch(reasonOf);
  if (typeof dropIns === 'string') return { fatal: `failed to merge kubelet configs: ${dropIns}` };
  for (const path of dropIns) {
    const dropIn = await readConfigFile(path, minor);
    if ('fatal' in dropIn) return dropIn;
    config = mergePatch(config, dropIn.config) as Config;
  }
  config = withDefaults(config, minor);
  const errors = validateKubeletConfig(config, { minor: minorName(minor), file: configFile }).filter(
    ({ severity, code }) => severity === 'error' && !FORGIVEN.has(code),
  );
  if (errors.length === 0) return { config };
  return {
    fatal: `failed to validate kubelet configuration: [${errors.map(({ field, message }) => `${field}: ${message}`).join(', ')}]`,
  };
}

async function readConfigFile(path: string, minor: number): Promise<Loaded> {
  try {
    const { value, findings } = decodeKubeletConfig(await readFile(path), path);
    // What can be read counts, whatever else is to be said about how it is written.
    if (value !== undefined) return { config: knownFields(value, minor) };
    return { fatal: `failed to load kubelet config file: ${findings.map(formatFinding).join('; ')}` };
  } catch (error) {
    return { fatal: `failed to load kubelet config file, path: ${path}, error: ${reasonOf(error)}` };
  }
}

/** Depth first, each directory in lexical order: Go's `filepath.WalkDir`. */
async function dropInsBelow(directory: string | undefined): Promise<readonly string[]> {
  if (directory === undefined) return [];
  const entries = await readdir(directory, { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) found.push(...(await dropInsBelow(path)));
    else if (entry.name.endsWith('.conf')) found.push(path);
  }
  return found;
}
