import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { PROJECT_CRDS } from '#sandbox/api-server/bootstrap-cluster.ts';
import { customResource } from '#sandbox/api-server/resources/custom.ts';
import { keepsUnknown, type Schema } from '#sandbox/api-server/schema/structural.ts';
import type { Json } from '#sandbox/api-server/stored-object.ts';

/** Every place of a schema, with its path. */
function places(schema: Schema, path: string): readonly (readonly [path: string, schema: Schema])[] {
  const { properties = {}, items, additionalProperties } = schema;
  return [
    [path, schema],
    ...Object.entries(properties).flatMap(([key, member]) => places(member, `${path}.${key}`)),
    ...(items === undefined ? [] : places(items, `${path}[]`)),
    ...(typeof additionalProperties === 'object' ? places(additionalProperties, `${path}.*`) : []),
  ];
}

const ours = (path: string): boolean => !path.startsWith('.metadata');

describe('the custom resource definitions', async () => {
  for (const file of PROJECT_CRDS) {
    const definition = parse(await readFile(file, 'utf8')) as Json;
    const { schema, resource, columns } = customResource(definition);
    const all = places(schema, '').filter(([path]) => ours(path));

    it(`say of every field of a ${resource.kind} what it is for`, () => {
      const fields = all.filter(([path]) => !/^$|(\[\]|\*)$|^\.(apiVersion|kind)$/.test(path));
      assert.deepEqual(
        fields.filter(([, { description = '' }]) => !/^[A-Z"].*\.$/s.test(description)),
        [],
      );
    });

    it(`know all fields of a ${resource.kind}, and bound every text and list`, () => {
      assert.deepEqual(
        all.filter(([, place]) => keepsUnknown(place)),
        [],
      );
      const unbound = all.filter(([path, place]) => {
        if (/^\.(apiVersion|kind)$/.test(path)) return false;
        const { type, format, pattern, maxLength, maxItems } = place;
        if (type === 'array') return maxItems === undefined;
        const bounded = maxLength !== undefined || place.enum !== undefined || format !== undefined;
        // A pattern that counts its characters bounds the text as well.
        return type === 'string' && !bounded && !/\{\d+\}/.test(pattern ?? '');
      });
      assert.deepEqual(unbound, []);
    });

    it(`show a ${resource.kind} in columns that the schema knows`, () => {
      const versions = (definition as Loose).spec.versions;
      for (const { name, jsonPath } of versions[0].additionalPrinterColumns) {
        if (jsonPath.startsWith('.metadata.')) continue;
        assert.ok(
          all.some(([path]) => path === jsonPath.replace(/\[\?\(.*\)\]/, '[]')),
          `${name}: ${jsonPath}`,
        );
      }
      assert.equal(columns[0]?.definition.name, 'Name');
    });
  }
});

// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any;
