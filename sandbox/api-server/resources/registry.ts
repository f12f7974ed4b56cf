import { BUILT_IN } from '#sandbox/api-server/resources/built-in.ts';
import { customResource } from '#sandbox/api-server/resources/custom.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import type { Json, StoredObject } from '#sandbox/api-server/stored-object.ts';

/** All resources that are served now: the built-in ones and those of the CustomResourceDefinitions. */
export interface Registry {
  readonly all: () => readonly ServedResource[];
  readonly find: (group: string, version: string, plural: string) => ServedResource | undefined;
  /** By what an object says of itself. */
  readonly ofObject: (object: Json) => ServedResource | undefined;
  /** Serves what a definition says from now on. @returns the resource */
  readonly define: (definition: StoredObject) => ServedResource;
  /** Ends it. @returns the resource that is gone */
  readonly undefine: (definition: StoredObject) => ServedResource | undefined;
}

export function createRegistry(): Registry {
  const custom = new Map<string, ServedResource>();
  const all = (): readonly ServedResource[] => [...BUILT_IN, ...custom.values()];
  return {
    all,
    find: (group, version, plural) =>
      all().find(
        ({ resource }) => resource.group === group && resource.version === version && resource.plural === plural,
      ),
    ofObject: ({ apiVersion, kind }) =>
      all().find(({ resource }) => apiVersionOf(resource) === apiVersion && resource.kind === kind),
    define(definition) {
      const served = customResource(definition);
      custom.set(definition.metadata.name, served);
      return served;
    },
    undefine({ metadata }) {
      const served = custom.get(metadata.name);
      custom.delete(metadata.name);
      return served;
    },
  };
}

export const apiVersionOf = ({ group, version }: { readonly group: string; readonly version: string }): string =>
  group === '' ? version : `${group}/${version}`;
