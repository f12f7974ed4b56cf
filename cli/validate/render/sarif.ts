import { type Finding, sentenceOf } from '#shared/contract/finding.ts';
import { relativeUri, sarifLog, sarifMessage } from '../../sarif-log.ts';
import { findingsOf, type Validation } from '../validation.ts';

export function asSarif(validation: Validation): string {
  const findings = findingsOf(validation);
  const rules = [...new Set(findings.map(({ code }) => code))].sort();
  return sarifLog(
    rules.map((id) => ({ id })),
    { results: findings.map(resultOf) },
  );
}

function resultOf(finding: Finding) {
  const { code, severity, file, line, column } = finding;
  const region =
    line === undefined ? {} : { region: { startLine: line, ...(column === undefined ? {} : { startColumn: column }) } };
  return {
    ruleId: code,
    level: severity,
    message: sarifMessage(sentenceOf(finding)),
    locations: [{ physicalLocation: { artifactLocation: { uri: relativeUri(file ?? '.') }, ...region } }],
  };
}
