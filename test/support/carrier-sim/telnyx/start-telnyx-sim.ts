import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerControl } from '../control.ts';
import { bodyOf, reply } from '../http.ts';
import { Numbers, type SimNumber } from '../numbers.ts';
import { type Callee, type CarrierSimOptions, type Faults, NO_FAULTS } from '../options.ts';
import { SimTime } from '../sim-time.ts';
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

export type TelnyxSim = AsyncDisposable & {
  /** Where its API is: TELNYX_BASE_URL. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** TELNYX_PUBLIC_KEY: the raw bytes in base64, as its portal shows them. */
  readonly publicKey: string;
  readonly connectionId: string;
  readonly faults: Faults;
  readonly owned: readonly SimNumber[];
  /** Every call that there was, in the order of their begin. */
  readonly calls: readonly TelnyxCall[];
  readonly requests: readonly TelnyxRequest[];
  readonly posted: readonly PostedWebhook[];
  /** A call from outside to a number that was sold. */
  ring(to: string, from: string, callee?: Callee): TelnyxCall;
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
  const reach = options.reach ?? ((url: string) => url);
  const calleeOf = options.callee ?? (() => ({}));
  const time = new SimTime(options.speed ?? 1);
  const faults: Faults = { ...NO_FAULTS, ...options.faults };
  const { privateKey: key } = generateKeyPairSync('ed25519');
  const posted: PostedWebhook[] = [];
  const numbers = new Numbers(options.numbers ?? []);
  const orders: TelnyxOrder[] = [];
  const calls: TelnyxCall[] = [];
  const requests: TelnyxRequest[] = [];
  const account = { apiKey: 'KEY of the sim', connectionId: '7267000000000000000' };
  const deps: TelnyxCallDeps = {
    ...{ time, faults, reach, calleeOf, connectionId: account.connectionId },
    webhooksOf: (made) => new TelnyxWebhooks({ key, time, faults: made, reach, posted }),
  };
  const partyOf = (from: string, to: string) => {
    const sid = `v3:${String(calls.length + 1).padStart(12, '0')}-sim`;
    return { sid, from, to };
  };

  function place(from: string, to: string, settings: TelnyxCallSettings): TelnyxCall {
    const callee = calleeOf({ from, to });
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
    ...{ faults, numbers, orders, place, isLate: options.isLate ?? false },
    calls,
    findCall: (id: string) => calls.find(({ sid }) => sid === id),
    filesUrl: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}${FILES}`,
  };
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const url = new URL(request.url ?? '', 'http://sim');
      const method = request.method ?? 'GET';
      if (url.pathname.startsWith('/sim/')) {
        return reply(response, answerControl({ calls, faults, ring }, method, url.pathname, body));
      }
      // The address of a file is its own credential.
      if (url.pathname.startsWith(FILES)) {
        return reply(response, recordingFile(calls, url.pathname.slice(FILES.length)));
      }
      if (!url.pathname.startsWith('/v2/')) return reply(response, { status: 404 });
      const asked = {
        method,
        path: url.pathname.slice('/v2/'.length).split('/').map(decodeURIComponent),
        query: url.searchParams,
        body: (body === '' ? {} : JSON.parse(body)) as Body,
      };
      requests.push(asked);
      const isKnown = request.headers.authorization === `Bearer ${account.apiKey}`;
      reply(response, isKnown ? answerTelnyx(rest, asked) : unauthenticated);
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });

  return {
    ...account,
    baseUrl: `http://127.0.0.1:${port}`,
    publicKey: spki.subarray(-32).toString('base64'),
    faults,
    owned: numbers.owned,
    calls,
    requests,
    posted,
    ring,
    sign: (timestamp, body) =>
      sign(null, Buffer.from(`${timestamp}|${body}`), key).toString('base64'),
    async [Symbol.asyncDispose]() {
      for (const call of calls) for (const stream of call.streams) stream.drop();
      time[Symbol.dispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
