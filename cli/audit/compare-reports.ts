import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { isMap } from '#shared/runtime/maps.ts';
import { type AuditChanges, type AuditCheck, type AuditReport, type ChangedCheck, SEVERITIES } from './audit-report.ts';

/**
 * What is new and what is gone since an earlier report. Of a node that cannot be seen now, and of a check that is not made now, nothing
 * is gone. Pure.
 */
export function compareReports(before: AuditReport, now: AuditReport): AuditChanges {
  const [then, present] = [checksOf(before), checksOf(now)];
  const unseen = new Set(now.unseen.flatMap(({ nodes }) => nodes));
  const sections = new Set(now.sections.map(({ id }) => id as string));
  const fresh = [...present.values()].flatMap((check) =>
    changed(check, without(failing(check), failing(then.get(check.id)))),
  );
  const gone = [...then.values()].flatMap((check) => {
    if (!sections.has(sectionOf(check.id))) return [];
    const here = present.get(check.id);
    // Where the check is made of what is found, another one of its section says what cannot be seen.
    const about =
      here === undefined ? [...present.values()].filter(({ id }) => sectionOf(id) === sectionOf(check.id)) : [here];
    const hidden = about.flatMap((each) => namesOf(each, 'not-visible'));
    return changed(check, without(failing(check), [...failing(here), ...hidden, ...unseen]));
  });
  return { at: before.at, fresh, gone };
}

const sectionOf = (id: string): string => id.split('/', 1)[0] ?? '';

const checksOf = ({ sections }: AuditReport): ReadonlyMap<string, AuditCheck> =>
  new Map(sections.flatMap(({ checks }) => checks.map((check) => [check.id, check] as const)));

const namesOf = (check: AuditCheck | undefined, result: AuditCheck['result']): readonly string[] =>
  (check?.groups ?? []).flatMap((group) => (group.result === result ? group.nodes : []));

const failing = (check: AuditCheck | undefined): readonly string[] => namesOf(check, 'fail');

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return [...new Set(names)].filter((name) => !known.has(name)).sort();
}

const changed = ({ id, title, severity }: AuditCheck, nodes: readonly string[]): readonly ChangedCheck[] =>
  nodes.length === 0 ? [] : [{ id, title, severity, nodes }];

/**
 * A report that `-o json` wrote.
 *
 * @throws GitopsError `NO_AUDIT` for anything else
 */
export function parseReport(text: string, file: string): AuditReport {
  const refuse = (why: string): GitopsError =>
    new GitopsError('NO_AUDIT', `${file} is not a report that audit -o json wrote: ${why}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse(reasonOf(error));
  }
  if (!isMap(value) || value['kind'] !== 'AuditReport') throw refuse('its kind is not AuditReport');
  if (value['version'] !== 1) throw refuse(`its version is not 1; make another one`);
  if (!isReport(value)) throw refuse('a part is missing');
  return value;
}

/** As far as it is compared. */
function isReport(value: Readonly<Record<string, unknown>>): value is Readonly<Record<string, unknown>> & AuditReport {
  return (
    typeof value['at'] === 'string' &&
    everyMap(value['sections'], ({ checks }) =>
      everyMap(
        checks,
        ({ id, title, severity, groups }) =>
          [id, title].every(isText) &&
          SEVERITIES.some((each) => each === severity) &&
          everyMap(groups, ({ nodes }) => Array.isArray(nodes) && nodes.every(isText)),
      ),
    )
  );
}

const isText = (value: unknown): boolean => typeof value === 'string';

const everyMap = (value: unknown, is: (item: Readonly<Record<string, unknown>>) => boolean): boolean =>
  Array.isArray(value) && value.every((item) => isMap(item) && is(item));
