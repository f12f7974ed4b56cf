import { type Finding, sentenceOf } from '#shared/contract/finding.ts';
import { VERSION } from '#shared/runtime/version.ts';
import { findingsOf, type Validation } from '../validation.ts';

/** SARIF 2.1.0, which code scanning of several forges reads. */
export function asSarif(validation: Validation): string {
  const findings = findingsOf(validation);
  const rules = [...new Set(findings.map(({ code }) => code))].sort();
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'kubelet-gitops', version: VERSION, rules: rules.map((id) => ({ id })) } },
        columnKind: 'unicodeCodePoints',
        results: findings.map(resultOf),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function resultOf(finding: Finding) {
  const { code, severity, file, line, column } = finding;
  const region =
    line === undefined ? {} : { region: { startLine: line, ...(column === undefined ? {} : { startColumn: column }) } };
  return {
    ruleId: code,
    level: severity,
    message: { text: sentenceOf(finding) },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file ?? '.') }, ...region } }],
  };
}

/** A path as a relative reference: a colon in a name begins no scheme, and # and ? cut nothing off. */
const uriOf = (path: string): string => path.toWellFormed().split('/').map(encodeURIComponent).join('/');
