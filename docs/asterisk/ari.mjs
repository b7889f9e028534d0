import { WebSocket } from 'ws';
import { env } from './settings.mjs';

/** The Stasis application that the dialplan hands calls to. */
export const APP = 'bridge';
const URL_OF_ARI = env('ARI_URL').replace(/\/+$/, '');
const LOGIN = `${env('ARI_USER')}:${env('ARI_PASSWORD')}`;
const TIMEOUT_MS = 10_000;
const AGAIN_MS = { first: 500, most: 10_000 };

/** Asks Asterisk's REST interface. Undefined: it knows no such thing. */
export async function ari(method, path, { query = {}, body } = {}) {
  const answer = await fetch(`${URL_OF_ARI}${path}?${new URLSearchParams(query)}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(LOGIN).toString('base64')}`,
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (answer.status === 404) return undefined;
  if (!answer.ok) throw new Error(`ARI answered ${answer.status} to ${method} ${path}`);
  return answer.text();
}

/** Hears the events of Asterisk for as long as the bridge runs. `connected` is called with each new connection. */
export function hearAri(heard, connected, waitMs = AGAIN_MS.first) {
  const query = new URLSearchParams({ app: APP, subscribeAll: 'true', api_key: LOGIN });
  const socket = new WebSocket(`${URL_OF_ARI.replace(/^http/, 'ws')}/events?${query}`, {
    handshakeTimeout: TIMEOUT_MS,
  });
  let nextMs = Math.min(waitMs * 2, AGAIN_MS.most);
  socket.on('open', () => {
    nextMs = AGAIN_MS.first;
    connected();
  });
  socket.on('message', (data) => heard(JSON.parse(data)));
  socket.on('error', (error) => console.error(`Asterisk's events: ${error.message}`));
  socket.on('close', () => setTimeout(() => hearAri(heard, connected, nextMs), waitMs));
}
