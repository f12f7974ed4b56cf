import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { programFile } from '#cli/program-files.ts';
import type { Api } from '#sandbox/api-server/api.ts';
import { objectsOf } from '#sandbox/api-server/sandbox-objects.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from '#sandbox/api-server/resources/built-in.ts';
import type { StoredObject } from '#sandbox/api-server/stored-object.ts';

/** The project's own definitions, those that are installed in a real cluster. */
export const PROJECT_CRDS: readonly string[] = ['kubeletnodes.yaml', 'kubeletpools.yaml', 'kubeletsources.yaml'].map(
  (file) => programFile(`deploy/crds/${file}`),
);

/** The namespaces that a cluster begins with. */
const FIRST_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** Makes what has to be there before anything else: namespaces and custom resources. @param crdFiles paths of YAML files */
export async function bootstrapCluster(
  api: Api,
  namespaces: readonly string[],
  crdFiles: readonly string[],
): Promise<void> {
  const objects = objectsOf(api);
  for (const name of [...FIRST_NAMESPACES, ...namespaces]) objects.seed(NAMESPACES, { metadata: { name } });
  for (const file of crdFiles) {
    for (const document of parseAllDocuments(await readFile(file, 'utf8'))) {
      if (document.errors.length > 0) throw new Error(`${file} is no YAML: ${document.errors[0]?.message}`);
      objects.seed(CUSTOM_RESOURCE_DEFINITIONS, document.toJS() as StoredObject);
    }
  }
}
