import { readFileSync } from 'node:fs';
import type { Json } from '../../src/kernel/json.ts';

export type CapturedRequest = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
};

/**
 * What an unmodified program sent to this server, request by request: `test/vectors/clients/README.md` says how it was
 * recorded. Programs are captured that are too large to be installed for tests.
 */
export function clientCapture(name: string): readonly CapturedRequest[] {
  const url = new URL(`../vectors/clients/${name}.json`, import.meta.url);
  return (JSON.parse(readFileSync(url, 'utf8')) as { requests: CapturedRequest[] }).requests;
}

/** Sends a captured request to a server, with the key and the model of the test. */
export const replay = (
  { body, headers, path }: CapturedRequest,
  to: { readonly baseUrl: string; readonly apiKey: string; readonly model: string },
): Promise<Response> =>
  fetch(to.baseUrl.replace(/\/v1$/, '') + path, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${to.apiKey}` },
    body: JSON.stringify({ ...body, model: to.model }),
  });

/** The data of all events of a stream. */
export async function eventsIn(response: Response): Promise<Json[]> {
  const text = await response.text();
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as Json);
}
