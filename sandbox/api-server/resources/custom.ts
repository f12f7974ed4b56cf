import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import { withTypeAndMeta } from '#sandbox/api-server/schema/object-meta.ts';
import type { Schema } from '#sandbox/api-server/schema/structural.ts';
import { createValidator } from '#sandbox/api-server/schema/validator.ts';
import type { Json } from '#sandbox/api-server/stored-object.ts';
import { AGE_COLUMN, NAME_COLUMN, type PrinterColumn, printerColumn } from '#sandbox/api-server/table/column.ts';

/** What the server uses of a CustomResourceDefinition (`apiextensions.k8s.io/v1`). */
interface Definition {
  readonly spec: {
    readonly group: string;
    readonly scope: 'Cluster' | 'Namespaced';
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly listKind?: string;
      readonly singular?: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly subresources?: { readonly status?: object };
      readonly additionalPrinterColumns?: readonly PrinterColumn[];
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

/**
 * The resource that a definition brings.
 *
 * @throws unless it has exactly one served version: conversion is no part of the sandbox
 */
export function customResource(definition: Json): ServedResource {
  const { group, scope, names, versions } = (definition as unknown as Definition).spec;
  const [served, ...more] = versions.filter((version) => version.served);
  if (served === undefined || more.length > 0) {
    throw new Error(`the sandbox serves one version of a custom resource; ${names.plural}.${group} has ${more.length}`);
  }
  const schema = withTypeAndMeta(served.schema.openAPIV3Schema);
  const columns = served.additionalPrinterColumns?.map(printerColumn) ?? [AGE_COLUMN];
  return {
    resource: {
      group,
      version: served.name,
      plural: names.plural,
      kind: names.kind,
      namespaced: scope === 'Namespaced',
    },
    singular: names.singular ?? names.kind.toLowerCase(),
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    schema,
    validate: createValidator(schema),
    check: () => [],
    origin: 'custom',
    statusSubresource: served.subresources?.status !== undefined,
    unconditionalUpdate: false,
    createOnUpdate: false,
    columns: [NAME_COLUMN, ...columns],
    selectable: {},
  };
}
