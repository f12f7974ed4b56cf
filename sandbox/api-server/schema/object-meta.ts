import { type Schema, TEXT, TEXTS } from '#sandbox/api-server/schema/structural.ts';

const COUNT: Schema = { type: 'integer' };
const TIME: Schema = { type: 'string', format: 'date-time' };

/** `metav1.ObjectMeta`, apart from managedFields (the sandbox keeps no record of who wrote what) and finalizers. */
export const OBJECT_META: Schema = {
  type: 'object',
  properties: {
    name: TEXT,
    generateName: TEXT,
    namespace: TEXT,
    uid: TEXT,
    resourceVersion: TEXT,
    generation: COUNT,
    creationTimestamp: TIME,
    labels: TEXTS,
    annotations: TEXTS,
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          apiVersion: TEXT,
          kind: TEXT,
          name: TEXT,
          uid: TEXT,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
  },
};

/** Adds what every object has to the schema of the rest. */
export const withTypeAndMeta = (schema: Schema): Schema => ({
  ...schema,
  properties: { ...schema.properties, apiVersion: TEXT, kind: TEXT, metadata: OBJECT_META },
});
