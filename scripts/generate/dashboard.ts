import { DASHBOARD_ROWS, type Panel, type Row } from './dashboard-panels.ts';

const COLUMNS = 24;
const SOURCE = { type: 'prometheus', uid: '${datasource}' };

interface Place {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** The dashboard for Grafana 9 and newer, made from `dashboard-panels.ts`. @returns path → text */
export function generateDashboard(): ReadonlyMap<string, string> {
  const dashboard = {
    uid: 'kubelet-gitops',
    title: 'kubelet-gitops',
    description: 'Kubelet configuration from git: what is wrong, what is under way, and what it costs',
    tags: ['kubernetes', 'kubelet'],
    schemaVersion: 38,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: { list: [datasource(), pools()] },
    panels: layOut(DASHBOARD_ROWS),
  };
  return new Map([['deploy/components/monitoring/dashboard.json', `${JSON.stringify(dashboard, null, 2)}\n`]]);
}

const datasource = (): object => ({
  name: 'datasource',
  label: 'Data source',
  type: 'datasource',
  query: 'prometheus',
});

const pools = (): object => ({
  name: 'pool',
  label: 'Pool',
  type: 'query',
  datasource: SOURCE,
  query: 'label_values(kubelet_gitops_pool_info, pool)',
  refresh: 2,
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { text: 'All', value: '$__all' },
});

function layOut(rows: readonly Row[]): readonly object[] {
  const placed: object[] = [];
  let y = 0;
  for (const { title, height, panels } of rows) {
    placed.push({
      id: placed.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: at(0, y, COLUMNS, 1),
    });
    y += 1;
    let x = 0;
    for (const panel of panels) {
      if (x + panel.width > COLUMNS) [x, y] = [0, y + height];
      placed.push(draw(panel, placed.length + 1, at(x, y, panel.width, height)));
      x += panel.width;
    }
    y += height;
  }
  return placed;
}

const at = (x: number, y: number, w: number, h: number): Place => ({ x, y, w, h });

function draw(panel: Panel, id: number, gridPos: Place): object {
  const { title, description, kind: type, unit, queries } = panel;
  const targets = queries.map(([expr, legend], index) => ({
    refId: 'ABCDEF'.charAt(index),
    datasource: SOURCE,
    expr,
    ...(legend === '' ? {} : { legendFormat: legend }),
    ...(type === 'table' ? { format: 'table', instant: true } : {}),
  }));
  const defaults = { unit, min: 0, ...(type === 'stat' ? { thresholds: thresholdsOf(panel) } : {}) };
  const options = type === 'stat' ? { colorMode: 'background', reduceOptions: { calcs: ['lastNotNull'] } } : {};
  return {
    id,
    type,
    title,
    description,
    gridPos,
    datasource: SOURCE,
    targets,
    fieldConfig: { defaults, overrides: [] },
    options,
  };
}

function thresholdsOf({ thresholds }: Panel): object {
  const [warn, bad] = thresholds ?? [];
  const steps = [{ color: 'green', value: null as number | null }];
  if (warn !== undefined && warn !== bad) steps.push({ color: 'orange', value: warn });
  if (bad !== undefined) steps.push({ color: 'red', value: bad });
  return { mode: 'absolute', steps };
}
