import { minorName, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { computedEditorSchema } from './computed-schema.ts';
import { kubeletEditorSchema } from './editor-schema.ts';
import { clusterEditorSchema, poolEditorSchema } from './project-schemas.ts';
import { schemaText } from './schema-text.ts';

/** Where the template keeps its copies: a folder that the reconciler does not read. */
const TEMPLATE = 'config-repo-template/.schemas';
/** What the template's cluster runs; its layers point there. */
const TEMPLATE_MINOR = 34;

/** Schemas for editors: all versions in `schemas/`, and in the template those that its files name. */
export function generateEditorSchemas(): ReadonlyMap<string, string> {
  const kubelets = Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, index) => OLDEST_MINOR + index).map(
    (minor) => [minor, schemaText(kubeletEditorSchema(minor))] as const,
  );
  const ours = [
    ['kubelet-pool.json', schemaText(poolEditorSchema())],
    ['cluster-config.json', schemaText(clusterEditorSchema())],
    ['computed-kubelet-configuration.json', schemaText(computedEditorSchema())],
  ] as const;
  const fileOf = (minor: number): string => `kubelet-configuration-${minorName(minor)}.json`;
  return new Map([
    ...kubelets.map(([minor, text]) => [`schemas/${fileOf(minor)}`, text] as const),
    ...ours.map(([name, text]) => [`schemas/${name}`, text] as const),
    ...kubelets.flatMap(([minor, text]) =>
      minor === TEMPLATE_MINOR ? [[`${TEMPLATE}/${fileOf(minor)}`, text] as const] : [],
    ),
    ...ours.map(([name, text]) => [`${TEMPLATE}/${name}`, text] as const),
  ]);
}
