import { stringify } from 'yaml';
import { API_VERSION } from '#shared/contract/api/group.ts';
import { KUBELET_CONFIG_API_VERSION, KUBELET_CONFIG_KIND } from '#shared/contract/kubelet-config/decode/decode.ts';
import { COMPUTED_KIND } from '#reconciler/policy/config-repo/read-computed.ts';
import type { RunningFields } from '../non-defaults.ts';
import { splitFormula } from '../formulas.ts';

/** Its schema for editors. */
export const COMPUTED_SCHEMA = 'computed-kubelet-configuration.json';

/** A layer as a file. */
export interface LayerFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** Where a layer goes, what is said of it, and the schema of its plain file. */
interface LayerPlace {
  /** `base/common`: without the ending, which two files may have. */
  readonly stem: string;
  readonly about: string;
  readonly schema: string;
}

/** The files of one layer: what it says itself, and what a profile gives. A layer that says nothing has none. */
export function layerFiles(config: RunningFields, { stem, about, schema }: LayerPlace): readonly LayerFile[] {
  const { plain, profile } = splitFormula(config);
  const up = '../'.repeat(stem.split('/').length - 1);
  const isPlain = Object.keys(plain).length > 0;
  const head = { apiVersion: KUBELET_CONFIG_API_VERSION, kind: KUBELET_CONFIG_KIND };
  const computed = { apiVersion: API_VERSION, kind: COMPUTED_KIND, profile };
  const given = `What profile ${profile} gives each machine for its size, and its kubelet had when this was imported.`;
  return [
    ...(isPlain ? [{ path: `${stem}.yaml`, text: written({ ...head, ...plain }, about, up, schema) }] : []),
    ...(profile === undefined
      ? []
      : [{ path: `${stem}-profile.yaml`, text: written(computed, given, up, COMPUTED_SCHEMA) }]),
  ];
}

/** A layer that says nothing: for a pool that has no other. */
export const emptyLayer = ({ stem, about, schema }: LayerPlace): LayerFile => ({
  path: `${stem}.yaml`,
  text: written(
    { apiVersion: KUBELET_CONFIG_API_VERSION, kind: KUBELET_CONFIG_KIND },
    about,
    '../'.repeat(stem.split('/').length - 1),
    schema,
  ),
});

const written = (value: unknown, about: string, up: string, schema: string): string =>
  `${schemaLine(up, schema)}# ${about}\n${yaml(value)}`;

/** As the template has it, for the YAML language server. */
export const schemaLine = (up: string, schema: string): string =>
  `# yaml-language-server: $schema=${up}.schemas/${schema}\n`;

/** In YAML 1.1, as the kubelet reads it: words like `yes` are quoted. */
export const yaml = (value: unknown): string =>
  stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
