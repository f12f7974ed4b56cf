import type { ObjectMeta } from '#shared/contract/api/object.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import { NAMESPACES } from '#sandbox/api-server/resources/built-in.ts';
import type { Cause } from '#sandbox/api-server/status/refusal.ts';

// The rules and their wording: k8s.io/apimachinery/pkg/api/validation and pkg/util/validation.

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_KEY =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const IS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const IS_SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const IS_LABEL_KEY =
  /^((?=[^/]{1,253}\/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;
const IS_LABEL_VALUE = /^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/;

/** Largest sum of an object's annotations, keys and values, in bytes. */
const MAX_ANNOTATION_BYTES = 256 * 1024;

/** All that is wrong with an object's metadata. */
export function checkMetadata({ resource }: ServedResource, metadata: ObjectMeta): readonly Cause[] {
  return [
    ...nameCauses(resource.plural === NAMESPACES.plural && resource.group === '', metadata.name),
    ...Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => [
      ...unless(IS_LABEL_KEY.test(key), 'metadata.labels', key, LABEL_KEY),
      ...unless(IS_LABEL_VALUE.test(value), 'metadata.labels', value, LABEL_VALUE),
    ]),
    ...annotationCauses(metadata.annotations ?? {}),
    ...(metadata.ownerReferences ?? []).flatMap((owner, index) =>
      (['apiVersion', 'kind', 'name', 'uid'] as const).flatMap((field) => {
        const path = `metadata.ownerReferences[${index}].${field}`;
        return unless((owner[field] ?? '') !== '', path, '', `${field} must not be empty`);
      }),
    ),
  ];
}

function nameCauses(isNamespace: boolean, name: string): readonly Cause[] {
  if (name === '') {
    const message = 'Required value: name or generateName is required';
    return [{ reason: 'FieldValueRequired', message, field: 'metadata.name' }];
  }
  const [rule, words] = isNamespace ? [IS_LABEL, LABEL] : [IS_SUBDOMAIN, SUBDOMAIN];
  return unless(rule.test(name), 'metadata.name', name, words);
}

function annotationCauses(annotations: Readonly<Record<string, string>>): readonly Cause[] {
  const pairs = Object.entries(annotations);
  const bytes = pairs.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  const tooLong: Cause = {
    reason: 'FieldValueTooLong',
    message: `Too long: must have at most ${MAX_ANNOTATION_BYTES} bytes`,
    field: 'metadata.annotations',
  };
  return [
    ...pairs.flatMap(([key]) => unless(IS_LABEL_KEY.test(key.toLowerCase()), 'metadata.annotations', key, LABEL_KEY)),
    ...(bytes > MAX_ANNOTATION_BYTES ? [tooLong] : []),
  ];
}

function unless(holds: boolean, field: string, value: string, rule: string): readonly Cause[] {
  const message = `Invalid value: ${JSON.stringify(value)}: ${rule}`;
  return holds ? [] : [{ reason: 'FieldValueInvalid', message, field }];
}
