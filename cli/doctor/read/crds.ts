import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Kube } from '#shared/kube/kube.ts';
import type { CrdFact } from '../facts.ts';
import { CRD_FIELDS } from '../installation.generated.ts';
import { type FieldSchema, fieldsOfKind } from '../schema-fields.ts';
import { CRDS } from './resources.ts';

interface CrdObject extends KubeObject {
  readonly spec?: {
    readonly versions?: readonly {
      readonly served?: boolean;
      readonly schema?: { readonly openAPIV3Schema?: FieldSchema };
    }[];
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Those of our CRDs that the cluster has. @throws KubeError */
export async function readCrds(kube: Kube): Promise<readonly CrdFact[]> {
  const found = await Promise.all(Object.keys(CRD_FIELDS).map((name) => kube.get<CrdObject>({ resource: CRDS }, name)));
  return found.filter((crd) => crd !== null).map(viewCrd);
}

function viewCrd({ metadata: { name }, spec, status }: CrdObject): CrdFact {
  const served = spec?.versions?.filter((version) => version.served === true) ?? [];
  const established = status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True');
  const fields = fieldsOfKind(served.map(({ schema }) => schema?.openAPIV3Schema ?? {}));
  return { name, established: established === true, fields };
}
