import { VERSION } from '#shared/runtime/version.ts';

/**
 * A log of SARIF 2.1.0, which code scanning of several forges reads.
 *
 * @param run what it has beside the tool
 */
export function sarifLog(
  rules: readonly { readonly id: string }[],
  run: { readonly results: readonly object[]; readonly [property: string]: unknown },
): string {
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'kubelet-gitops', version: VERSION, rules } },
        columnKind: 'unicodeCodePoints',
        ...run,
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

/** A path as a relative reference: a colon in a name begins no scheme, and # and ? cut nothing off. */
export const relativeUri = (path: string): string => path.toWellFormed().split('/').map(encodeURIComponent).join('/');

/**
 * A message in which nothing is a link (`[text](address)`) or a placeholder (`{0}`) to a viewer: a space without width keeps them from
 * it, whether or not the viewer knows escapes (SARIF 2.1.0, 3.11.5 and 3.11.6).
 */
export const sarifMessage = (text: string): { readonly text: string } => ({
  text: text.toWellFormed().replaceAll(/\](?=\()|\{(?=\d)/g, '$&\u200B'),
});
