import {
  type AuditCheck,
  type AuditReport,
  type CheckResult,
  SECTION_IDS,
  SEVERITIES,
} from '#cli/audit/audit-report.ts';
import { fc } from '../../../../support/property.ts';

/** What begins markup, links, mentions, references or commands in any of the formats, and what ends what we began. */
const SHARDS: readonly string[] = [
  ...String.raw`<script>alert(1)</script> </details> </style> </pre> <a/href="//evil.example"> --> &lt;b&gt; &#60;b&#62; ]]> <![CDATA[ <?xml?>`.split(
    ' ',
  ),
  ...String.raw`[a](https://evil.example) ![a](//evil.example/x.png) ]( {0} @ada @acme/team ada@evil.example #1 acme/x#1 GH-1 !1`.split(
    ' ',
  ),
  ...String.raw`https://evil.example HTTP://evil.example www.evil.example ftp://evil.example mailto:a@b.c <https://evil.example> <a@b.c>`.split(
    ' ',
  ),
  ...String.raw`~~~ ~~x~~ | \ \| ** _x_ $x$ :tada: 1. === --- ::error::x ##[error]x é 漢 👍🏽 100%`.split(' '),
  '`',
  '``',
  '```',
  '````',
  '$`x`$',
  '[a](javascript:alert`1`)',
  '<img src=x onerror=alert(1)>',
  '" onload="alert(1)',
  "' onclick='x",
  '\n',
  '\r\n',
  '\r',
  '\n\n',
  '\n# h',
  '\n```\n<b> @ada',
  '\n- x',
  '\n> x',
  '\n    x',
  '\n[a]: //evil.example',
  '\t',
  ' ',
  'a'.repeat(300),
  '\u0000',
  '\u001b[2J',
  '\u202E',
  '\u2028',
  '\uFFFE',
  '\uD800',
];

const hostile = fc.oneof(
  { arbitrary: fc.array(fc.constantFrom(...SHARDS), { maxLength: 5 }).map((shards) => shards.join('')), weight: 6 },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 12 }), weight: 2 },
  { arbitrary: fc.constant('general-01'), weight: 1 },
);

const few = <T>(item: fc.Arbitrary<T>, maxLength = 3): fc.Arbitrary<T[]> => fc.array(item, { maxLength });
const at = fc.constantFrom('2026-11-29T12:03:10Z', '2026-01-01T00:00:00.000Z');
const count = fc.integer({ min: 0, max: 5_000 });
const amount = fc.oneof(fc.integer({ min: 0, max: 2 ** 42 }), fc.double({ min: 0, max: 512, noNaN: true }));
const severity = fc.constantFrom(...SEVERITIES);
const result = fc.constantFrom<CheckResult>('fail', 'not-visible', 'info', 'pass');
/** Absent keys stand for what is not known. */
const optional = <T>(record: { [Key in keyof T]: fc.Arbitrary<T[Key]> }, ...keys: readonly string[]) =>
  fc.record(record, {
    requiredKeys: Object.keys(record).filter((key) => !keys.includes(key)) as never,
  });

function checksWith(text: fc.Arbitrary<string>): fc.Arbitrary<AuditCheck[]> {
  const evidence = optional(
    {
      field: text,
      value: text,
      by: fc.constantFrom('config', 'default', 'flag', 'node', 'kubelet', 'prometheus', 'repository'),
      place: text,
    },
    'by',
    'place',
  );
  const group = fc.record({
    result,
    count,
    nodes: fc.array(text, { minLength: 1, maxLength: 5 }),
    evidence: few(evidence),
  });
  const check = optional(
    {
      id: text,
      title: text,
      severity,
      result,
      because: text,
      groups: few(group),
      fix: optional({ yaml: text, how: text }, 'yaml', 'how'),
      references: few(text, 2),
    },
    'because',
    'fix',
  );
  return fc.array(check, { maxLength: 4 }) as fc.Arbitrary<AuditCheck[]>;
}

/**
 * Any report whose every text may be hostile; ids of checks are unique, as they are in real ones.
 *
 * @param text of which all texts are made
 */
export function anyReport(text: fc.Arbitrary<string> = hostile): fc.Arbitrary<AuditReport> {
  const names = few(text, 5);
  const changed = few(fc.record({ id: text, title: text, severity, nodes: names }));
  const config = fc.record({
    count,
    nodes: names,
    differences: few(fc.record({ field: text, value: text, others: text })),
  });
  const group = fc.record({
    name: text,
    labels: text,
    count,
    versions: few(fc.record({ version: text, count })),
    configs: few(config),
  });
  const used = optional(
    { median: amount, most: amount, kind: fc.constantFrom('moment', 'p99'), nodes: count, days: count, at },
    'days',
  );
  const resource = optional(
    {
      resource: fc.constantFrom('cpu', 'memory'),
      capacity: amount,
      kubeReserved: amount,
      systemReserved: amount,
      eviction: amount,
      allocatable: amount,
      used,
      parts: few(fc.record({ name: text, most: amount })),
      profiles: few(fc.record({ name: text, amount })),
    },
    'allocatable',
    'used',
    'parts',
  );
  const room = optional({ name: text, count, nodes: names, profile: text, resources: few(resource) }, 'profile');
  const section = optional(
    { title: text, summary: text, result, checks: checksWith(text), groups: few(group), classes: few(room) },
    'groups',
    'classes',
  );
  const unseen = optional(
    {
      reason: fc.constantFrom('not-ready', 'forbidden', 'no-answer', 'untrusted', 'unreadable', 'unsupported'),
      because: text,
      right: text,
      nodes: names,
    },
    'right',
  );
  const report = optional(
    {
      kind: fc.constant('AuditReport'),
      version: fc.constant(1),
      at,
      source: fc.record({ from: fc.constantFrom('cluster', 'direct', 'files'), of: text, notes: few(text) }),
      nodes: fc.record({ seen: count, of: count }),
      unseen: few(unseen),
      sections: fc.array(section, { maxLength: SECTION_IDS.length }),
      since: fc.record({ at, fresh: changed, gone: changed }),
    },
    'since',
  ) as unknown as fc.Arbitrary<AuditReport>;
  return report.map((each) => ({
    ...each,
    sections: each.sections.map((one, index) => ({
      ...one,
      id: SECTION_IDS[index] ?? 'drift',
      checks: one.checks.map((check, at_) => ({ ...check, id: `${index}/${at_}/${check.id}` })),
    })),
  }));
}

const KEPT = new Set<string>([
  'AuditReport',
  ...SECTION_IDS,
  ...SEVERITIES,
  ...'cluster direct files not-ready forbidden no-answer untrusted unreadable unsupported cpu memory moment p99'.split(
    ' ',
  ),
  ...'fail not-visible info pass config default flag node kubelet prometheus repository'.split(' '),
]);

/** The same report with every text replaced by a plain one of as much: what is of the template stays. */
export const harmless = (report: AuditReport): AuditReport =>
  JSON.parse(JSON.stringify(report), (_, value: unknown) =>
    typeof value !== 'string' || value === '' || KEPT.has(value) || /^\d{4}-\d\d-\d\dT/.test(value) ? value : 'x',
  ) as AuditReport;

/** The tags of a page or of XML, with the names of their attributes. */
export const tagsOf = (markup: string): readonly string[] =>
  [...markup.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replaceAll(/="[^"]*"/g, '='));
