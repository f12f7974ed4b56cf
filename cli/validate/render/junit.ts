import { formatFinding } from '#shared/contract/finding.ts';
import { escapeXml } from '../../xml-text.ts';
import type { ValidatedFile, Validation } from '../validation.ts';

/** JUnit's XML: one case a file. Warnings do not fail a case. */
export function asJunit({ files }: Validation): string {
  const failures = files.filter((file) => errorsIn(file).length > 0).length;
  const suite = `<testsuite name="kubelet-gitops validate" tests="${files.length}" failures="${failures}">`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${suite}\n${files.map(caseOf).join('')}</testsuite>\n`;
}

const errorsIn = ({ findings }: ValidatedFile) => findings.filter(({ severity }) => severity === 'error');

function caseOf(file: ValidatedFile): string {
  const open = `  <testcase classname="kubelet-gitops" name="${escapeXml(file.path)}"`;
  const lines = file.findings.map(formatFinding).join('\n');
  const errors = errorsIn(file);
  if (errors.length > 0) {
    const codes = [...new Set(errors.map(({ code }) => code))].join(', ');
    return `${open}>\n    <failure message="${escapeXml(codes)}">${escapeXml(lines)}</failure>\n  </testcase>\n`;
  }
  return lines === '' ? `${open}/>\n` : `${open}>\n    <system-out>${escapeXml(lines)}</system-out>\n  </testcase>\n`;
}
