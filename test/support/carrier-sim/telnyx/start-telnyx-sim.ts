import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { Callee, CarrierSimOptions } from '../options.ts';
import { type SimCarrier, serveSim, simParts } from '../serve-sim.ts';
import {
  type Body,
  TelnyxCall,
  type TelnyxCallDeps,
  type TelnyxCallSettings,
} from './telnyx-call.ts';
import { recordingFile } from './telnyx-recording.ts';
import {
  answerTelnyx,
  type TelnyxOrder,
  type TelnyxRequest,
  unauthenticated,
} from './telnyx-rest.ts';
import { type PostedWebhook, TelnyxWebhooks } from './telnyx-webhooks.ts';

/** Where the sound of recordings is. */
const FILES = '/files/';
const HOUR_MS = 3_600_000;

export type TelnyxSim = SimCarrier<TelnyxCall, TelnyxRequest> & {
  readonly apiKey: string;
  /** TELNYX_PUBLIC_KEY: the raw bytes in base64, as its portal shows them. */
  readonly publicKey: string;
  readonly connectionId: string;
  readonly posted: readonly PostedWebhook[];
  /** Signs as this carrier does. */
  sign(timestamp: string, body: string): string;
};

export type TelnyxSimOptions = Omit<CarrierSimOptions, 'accountSid' | 'authToken'> & {
  /** Where the application at Telnyx has its webhooks: calls from outside come there. */
  readonly webhookUrl: string;
  /** An order is carried out once it was asked about, in the place of at once. */
  readonly isLate?: boolean;
};

/** A carrier on loopback that speaks Telnyx's v2 API, its signed webhooks and its media streams. */
export async function startTelnyxSim(options: TelnyxSimOptions): Promise<TelnyxSim> {
  const { deps: shared, numbers, calls, requests } = simParts<TelnyxCall, TelnyxRequest>(options);
  const { time, faults, reach } = shared;
  const { privateKey: key } = generateKeyPairSync('ed25519');
  const posted: PostedWebhook[] = [];
  const orders: TelnyxOrder[] = [];
  const account = { apiKey: 'KEY of the sim', connectionId: '7267000000000000000' };
  const deps: TelnyxCallDeps = {
    ...shared,
    connectionId: account.connectionId,
    webhooksOf: (made) => new TelnyxWebhooks({ key, time, faults: made, reach, posted }),
  };
  const partyOf = (from: string, to: string) => {
    const sid = `v3:${String(calls.length + 1).padStart(12, '0')}-sim`;
    return { sid, from, to };
  };

  function place(from: string, to: string, settings: TelnyxCallSettings): TelnyxCall {
    const callee = shared.calleeOf({ from, to });
    const call = new TelnyxCall(deps, partyOf(from, to), 'outgoing', settings, callee);
    calls.push(call);
    void call.place();
    return call;
  }

  function ring(to: string, from: string, callee: Callee = {}): TelnyxCall {
    if (numbers.find(to) === undefined) throw new Error(`${to} was not sold`);
    const settings = {
      webhookUrl: options.webhookUrl,
      timeoutMs: 60_000,
      timeLimitMs: 4 * HOUR_MS,
      detectsMachine: false,
    };
    const call = new TelnyxCall(deps, partyOf(from, to), 'incoming', settings, callee);
    calls.push(call);
    call.ring();
    return call;
  }

  const rest = {
    faults,
    numbers,
    orders,
    place,
    isLate: options.isLate ?? false,
    calls,
    findCall: (id: string) => calls.find(({ sid }) => sid === id),
    filesUrl: () => `${served.baseUrl}${FILES}`,
  };
  const served = await serveSim(
    { deps, calls, ring, port: options.port },
    ({ method, url, authorization, body }) => {
      // The address of a file is its own credential.
      if (url.pathname.startsWith(FILES)) {
        return recordingFile(calls, url.pathname.slice(FILES.length));
      }
      if (!url.pathname.startsWith('/v2/')) return { status: 404 };
      const asked = {
        method,
        path: url.pathname.slice('/v2/'.length).split('/').map(decodeURIComponent),
        query: url.searchParams,
        body: (body === '' ? {} : JSON.parse(body)) as Body,
      };
      requests.push(asked);
      const isKnown = authorization === `Bearer ${account.apiKey}`;
      return isKnown ? answerTelnyx(rest, asked) : unauthenticated;
    },
  );
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });

  return {
    ...served,
    ...account,
    faults,
    calls,
    requests,
    posted,
    ring,
    owned: numbers.owned,
    publicKey: spki.subarray(-32).toString('base64'),
    sign: (timestamp, body) =>
      sign(null, Buffer.from(`${timestamp}|${body}`), key).toString('base64'),
  };
}
