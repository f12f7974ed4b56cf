import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createConnectionAgents } from '../../git/http/connection-agents.ts';
import { proxiesFor, type ProxySettings } from '#shared/http/proxy.ts';
import { createForgeClient } from './forge-client.ts';
import { ForgeError } from './errors.ts';
import { type ForgeKind, forgeOf } from './forges.ts';
import { forgeApiOf } from './forge-api.ts';
import { type ForgeStatusWriter, createForgeStatusWriter } from './forge-status-writer.ts';
import { readFile } from 'node:fs/promises';
import { codeOf } from '#shared/runtime/errors.ts';

export interface ForgeSettings {
  readonly kind: ForgeKind;
  readonly gitUrl: string;
  readonly apiUrl: string | undefined;
  readonly repository: string | undefined;
  readonly tokenFile: string;
  readonly link: string | undefined;
  readonly caFile: string | undefined;
  readonly proxy?: ProxySettings | undefined;
}

interface ForgePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly onChange: () => void;
  /** How long the forge may take for an answer. */
  readonly timeoutMs?: Millis;
}

/** @throws ForgeError `FORGE_SETTINGS` where the repository's address does not tell where its forge is */
export function connectForge(settings: ForgeSettings, ports: ForgePorts): ForgeStatusWriter {
  const place = forgeApiOf(settings.kind, settings);
  if (place === null) {
    throw new ForgeError(
      'FORGE_SETTINGS',
      'the address of the repository does not tell where its forge is: set FORGE_API_URL and FORGE_REPOSITORY',
    );
  }
  const readToken = fileToken(settings.tokenFile);
  let present = '';
  const token = (): string => present;
  const { proxy } = settings;
  const proxies = proxy === undefined ? undefined : proxiesFor(proxy, new URL(place.api));
  return createForgeStatusWriter({
    ...ports,
    forge: forgeOf(settings.kind, place, token),
    ask: createForgeClient({
      connections: createConnectionAgents(settings.caFile, proxies),
      token,
      clock: ports.clock,
      ...(ports.timeoutMs === undefined ? {} : { timeoutMs: ports.timeoutMs }),
    }),
    refresh: async () => void (present = await readToken()),
    link: settings.link,
  });
}

/**
 * The token as it is now, so that a changed Secret is used at the next call.
 *
 * @throws ForgeError `FORGE_TOKEN_UNREADABLE`
 */
function fileToken(file: string): () => Promise<string> {
  const unreadable = (why: string): ForgeError =>
    new ForgeError('FORGE_TOKEN_UNREADABLE', `the file with the forge's token ${file} ${why}`);
  return async () => {
    let text: string;
    try {
      text = (await readFile(file, 'utf8')).trim();
    } catch (error) {
      throw unreadable(`cannot be read (${codeOf(error) ?? 'for an unknown reason'})`);
    }
    if (text === '') throw unreadable('is empty');
    if (!/^[\x21-\x7e]+$/.test(text)) throw unreadable('holds more than a token: blanks or line breaks');
    return text;
  };
}
