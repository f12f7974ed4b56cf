import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';

const object = (required: readonly string[], properties: Readonly<Record<string, object>>): object => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const array = (items: object, more: object = {}): object => ({ type: 'array', items, ...more });

const text = { type: 'string', minLength: 1 };
const message = object(['text'], { text: { type: 'string' } });
const level = { enum: ['none', 'note', 'warning', 'error'] };
const uri = { type: 'string', pattern: "^[A-Za-z0-9._~!$&'()*+,;=@%/-]*$" };

/** As much of SARIF 2.1.0 (sections 3.13 to 3.58) as we write: narrower, so that a slip of the pen is no unknown property. */
const OURS = object(['version', 'runs'], {
  $schema: { const: 'https://json.schemastore.org/sarif-2.1.0.json' },
  version: { const: '2.1.0' },
  runs: array(
    object(['tool', 'results'], {
      tool: object(['driver'], {
        driver: object(['name', 'rules'], {
          name: text,
          version: text,
          rules: array(
            object(['id'], {
              id: text,
              shortDescription: message,
              fullDescription: message,
              help: message,
              defaultConfiguration: object([], { level }),
              properties: {
                type: 'object',
                properties: {
                  tags: array(text, { uniqueItems: true }),
                  'security-severity': { type: 'string', pattern: '^\\d+\\.\\d$' },
                },
              },
            }),
            { uniqueItems: true },
          ),
        }),
      }),
      automationDetails: object(['id'], { id: text }),
      columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
      invocations: array(
        object(['executionSuccessful'], {
          executionSuccessful: { type: 'boolean' },
          endTimeUtc: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$' },
          toolExecutionNotifications: array(
            object(['message'], { message, level, associatedRule: object(['id'], { id: text }) }),
          ),
        }),
        { uniqueItems: true },
      ),
      results: array(
        object(['message', 'ruleId', 'locations'], {
          ruleId: text,
          level,
          message,
          locations: array(
            object(['physicalLocation'], {
              physicalLocation: object(['artifactLocation'], {
                artifactLocation: object(['uri'], { uri }),
                region: object(['startLine'], {
                  startLine: { type: 'integer', minimum: 1 },
                  startColumn: { type: 'integer', minimum: 1 },
                }),
              }),
              logicalLocations: array(
                object([], { name: { type: 'string' }, kind: { const: 'resource' }, fullyQualifiedName: text }),
                { uniqueItems: true },
              ),
            }),
            // GitHub takes no result without, and shows no more.
            { minItems: 1, maxItems: 100 },
          ),
          partialFingerprints: { type: 'object', additionalProperties: text },
        }),
      ),
    }),
  ),
});

/** Judges a log by the part of the format that we use and, where `SARIF_SCHEMA` names its file, by the schema that OASIS publishes. */
export function sarifFaults(log: unknown): readonly string[] {
  return validators.flatMap((validate) =>
    validate(log) ? [] : (validate.errors ?? []).map(({ instancePath, message: said }) => `${instancePath} ${said}`),
  );
}

const validators: readonly ValidateFunction[] = [OURS, ...published()].map((schema) =>
  new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false, logger: false }).compile(schema),
);

function published(): readonly object[] {
  const file = process.env['SARIF_SCHEMA'];
  if (file === undefined) return [];
  // Of draft 4, which names itself in another way; what it says is the same in draft 7.
  const { id: _id, $schema: _draft, ...schema } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  return [schema];
}
