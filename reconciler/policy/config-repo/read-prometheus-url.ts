import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { readTextField } from './read-scalars.ts';
import type { FileReport } from './file-report.ts';

const LONGEST_URL = 1024;

/** Most characters of a query of PromQL. */
export const LONGEST_QUERY = 4096;

/** What is asked is written into logs and statuses: a password must not stand in it. */
export function readPrometheusUrl(value: unknown, path: Path, report: FileReport): string {
  const text = readTextField(value, path, { longest: LONGEST_URL }, report);
  if (value === undefined) report.error('missing-field', path, 'prometheus has no url');
  if (text === undefined) return '';
  const example = 'write it as http://prometheus.monitoring:9090';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    report.error('bad-url', path, 'the url of prometheus is not an http or https address', example);
  } else if (url.username !== '' || url.password !== '') {
    report.error(
      'bad-url',
      path,
      'the url of prometheus holds credentials: everybody who reads the repository has them',
      example,
    );
  } else if (url.search !== '' || url.hash !== '') {
    report.error('bad-url', path, 'the url of prometheus has a query or a fragment', example);
  }
  return text;
}
