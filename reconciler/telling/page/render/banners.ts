import { type Html, html } from '../html.ts';
import type { Banner } from '../model.ts';

/** What needs a person, above everything else. */
export function renderBanners(banners: readonly Banner[]): Html {
  if (banners.length === 0) return html`<p class="calm">Nothing needs you.</p>`;
  return html`<section aria-labelledby="attention" class="banners">
    <h2 id="attention">What needs attention</h2>
    ${banners.map(renderBanner)}
  </section>`;
}

function renderBanner({ tone, title, text, remedies }: Banner): Html {
  const lines = text.split('\n').filter((line) => line !== '');
  return html`<article class="banner ${tone}">
    <h3><span class="sign" aria-hidden="true">${tone === 'bad' ? '✕' : '!'}</span> ${title}</h3>
    ${lines.map((line) => html`<p>${line}</p>`)}
    <ul>
      ${remedies.map((remedy) => html`<li>${withCode(remedy)}</li>`)}
    </ul>
  </article>`;
}

/** What stands between backquotes is a command. */
function withCode(text: string): readonly Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
