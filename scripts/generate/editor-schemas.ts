import { minorName, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { computedSchema } from './computed-schema.ts';
import { kubeletEditorSchema } from './editor-schema.ts';
import { clusterSchema, poolSchema } from './project-schemas.ts';
import { receiversSchema } from './receivers-schema.ts';
import { type Schema, schemaText } from './schema-text.ts';
import { without } from './validators.ts';

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
    ['kubelet-pool.json', published(poolSchema())],
    ['cluster-config.json', published(clusterSchema())],
    ['computed-kubelet-configuration.json', published(computedSchema())],
  ] as const;
  const fileOf = (minor: number): string => `kubelet-configuration-${minorName(minor)}.json`;
  return new Map([
    ...kubelets.map(([minor, text]) => [`schemas/${fileOf(minor)}`, text] as const),
    ...ours.map(([name, text]) => [`schemas/${name}`, text] as const),
    // It is no file of the repository.
    ['schemas/notification-receivers.json', published(receiversSchema())],
    ...kubelets.flatMap(([minor, text]) =>
      minor === TEMPLATE_MINOR ? [[`${TEMPLATE}/${fileOf(minor)}`, text] as const] : [],
    ),
    ...ours.map(([name, text]) => [`${TEMPLATE}/${name}`, text] as const),
  ]);
}

/** Without the words that only our programs read. */
const published = (schema: Schema): string => schemaText(without(schema, (keyword) => keyword.startsWith('x-')));
