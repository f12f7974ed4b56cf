import { sayWorking } from '../../notes/writer-state.ts';
import { type Html, html } from '../html.ts';
import type { CommitRow, GitModel, WorkingModel } from '../model.ts';
import { type Column, table } from './html-table.ts';
import { dateAndTime } from './html-time.ts';
import { outcomeBadge } from './state-badges.ts';

const COLUMNS: readonly Column<CommitRow>[] = [
  {
    heading: 'Commit',
    cell: ({ oid, link }) => {
      const short = html`<code>${oid.slice(0, 12)}</code>`;
      return link === null ? short : html`<a href="${link}" rel="noreferrer">${short}</a>`;
    },
  },
  { heading: 'Outcome', cell: ({ outcome }) => outcomeBadge(outcome) },
  { heading: 'Subject', cell: ({ subject }) => subject },
  { heading: 'Author', cell: ({ author }) => author },
  { heading: 'Taken up or refused', cell: ({ at }) => dateAndTime(at) },
];

/** The last commits, and how the repository is doing. */
export function renderCommits({ commits, git, findings }: Pick<WorkingModel, 'commits' | 'git' | 'findings'>): Html {
  return html`<section aria-labelledby="commits">
    <h2 id="commits">Commits</h2>
    ${commits.length === 0 ? html`<p>No commit has come into force yet.</p>` : table('The last commits that came into force or were refused', COLUMNS, commits)}
    ${renderGit(git)}
    ${
      findings.length === 0
        ? null
        : html`<h3>Findings in the commit in force</h3>
            <ul class="findings">
              ${findings.map((finding) => html`<li>${finding}</li>`)}
            </ul>`
    }
  </section>`;
}

function renderGit({ url, branch, failingSince, notes, statuses }: GitModel): Html {
  const health = failingSince === '' ? 'read without trouble' : html`cannot be read since ${dateAndTime(failingSince)}`;
  return html`<dl class="facts">
    <div>
      <dt>Repository</dt>
      <dd><code>${url}</code></dd>
    </div>
    <div>
      <dt>Branch</dt>
      <dd><code>${branch}</code>, ${health}</dd>
    </div>
    <div>
      <dt>Notes on commits</dt>
      <dd>${sayWorking(notes)}</dd>
    </div>
    <div>
      <dt>Statuses on the forge</dt>
      <dd>${sayWorking(statuses)}</dd>
    </div>
  </dl>`;
}
