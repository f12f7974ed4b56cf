import type { AuditReport } from '../audit-report.ts';
import { asHtml } from './html.ts';
import { asJunit } from './junit.ts';
import { asMarkdown } from './markdown.ts';
import { asSarif } from './sarif.ts';

/** Each gives a whole file or comment, by the name of its format. Pure. */
export const RENDERERS = {
  markdown: asMarkdown,
  html: asHtml,
  sarif: asSarif,
  junit: asJunit,
} as const satisfies Readonly<Record<string, (report: AuditReport) => string>>;
