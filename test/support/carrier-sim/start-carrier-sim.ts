import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Callbacks, type PostedCallback } from './callbacks.ts';
import { answerControl } from './control.ts';
import { bodyOf, reply } from './http.ts';
import { Numbers, type SimNumber } from './numbers.ts';
import {
  type Callee,
  type CarrierSimOptions,
  type Faults,
  NO_FAULTS,
  SIM_ACCOUNT,
} from './options.ts';
import { answerRest, type RestRequest, type Trigger, unauthenticated } from './rest.ts';
import { type CallSettings, SimCall, type SimCallDeps } from './sim-call.ts';
import { SimTime } from './sim-time.ts';

/** What Twilio takes for a minute, in dollars. */
const MINUTE_PRICE = 0.014;
const HOUR_MS = 3_600_000;

export type CarrierSim = AsyncDisposable & {
  /** Where its API is: TWILIO_BASE_URL. */
  readonly baseUrl: string;
  readonly accountSid: string;
  readonly authToken: string;
  readonly faults: Faults;
  readonly owned: readonly SimNumber[];
  readonly triggers: readonly Trigger[];
  /** Every call that there was, in the order of their begin. */
  readonly calls: readonly SimCall[];
  readonly requests: readonly RestRequest[];
  readonly posted: readonly PostedCallback[];
  /** A caller from outside calls a number that was sold. */
  ring(to: string, from: string, callee?: Callee): SimCall;
  /** Tells every trigger what was spent this month, in dollars. */
  reportSpend(dollars: string): Promise<void>;
};

/** A carrier on loopback that speaks Twilio's REST, its signed callbacks and its media streams. */
export async function startCarrierSim(options: CarrierSimOptions = {}): Promise<CarrierSim> {
  const { accountSid, authToken } = { ...SIM_ACCOUNT, ...options };
  const reach = options.reach ?? ((url: string) => url);
  const calleeOf = options.callee ?? (() => ({}));
  const time = new SimTime(options.speed ?? 1);
  const faults: Faults = { ...NO_FAULTS, ...options.faults };
  const posted: PostedCallback[] = [];
  const callbacksOf = (made: Faults) => new Callbacks(authToken, made, reach, posted);
  const numbers = new Numbers(options.numbers ?? []);
  const triggers: Trigger[] = [];
  const calls: SimCall[] = [];
  const requests: RestRequest[] = [];
  const deps: SimCallDeps = { time, callbacksOf, faults, reach, accountSid, calleeOf };

  const partyOf = (from: string, to: string) => {
    const sid = `CA${String(calls.length + 1).padStart(32, 'f')}`;
    return { sid, from, to };
  };

  function place(from: string, to: string, settings: CallSettings): SimCall {
    const callee = calleeOf({ from, to });
    const call = new SimCall(deps, partyOf(from, to), 'outbound-api', settings, callee);
    calls.push(call);
    void call.place();
    return call;
  }

  function ring(to: string, from: string, callee: Callee = {}): SimCall {
    const number = numbers.find(to);
    if (number === undefined) throw new Error(`${to} was not sold`);
    const settings = {
      url: number.voiceUrl,
      statusCallback: number.statusCallback,
      timeoutMs: HOUR_MS,
      timeLimitMs: 4 * HOUR_MS,
    };
    const call = new SimCall(deps, partyOf(from, to), 'inbound', settings, callee);
    calls.push(call);
    call.status = 'ringing';
    void call.obey(number.voiceUrl);
    return call;
  }

  function priceOf({ endedAtMs, durationSeconds }: SimCall): string | null {
    if (endedAtMs === undefined || time.now() < endedAtMs + faults.priceDelayMs) return null;
    return (-Math.ceil((durationSeconds ?? 0) / 60) * MINUTE_PRICE).toFixed(5);
  }

  const rest = {
    faults,
    numbers,
    triggers,
    calls,
    place,
    findCall: (sid: string) => calls.find((call) => call.sid === sid),
    priceOf,
  };
  const credential = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  const root = `/2010-04-01/Accounts/${accountSid}/`;

  const server = createServer((request, response) => {
    void bodyOf(request).then(async (body) => {
      const url = new URL(request.url ?? '', 'http://sim');
      const method = request.method ?? 'GET';
      if (url.pathname.startsWith('/sim/')) {
        return reply(response, answerControl({ calls, faults, ring }, method, url.pathname, body));
      }
      if (!url.pathname.startsWith(root)) return reply(response, { status: 404 });
      const asked = {
        method,
        path: url.pathname.slice(root.length).replace(/\.json$/, ''),
        query: url.searchParams,
        form: new URLSearchParams(body),
      };
      requests.push(asked);
      const isKnown = request.headers.authorization === credential;
      await options.onRequest?.('asked', asked);
      const answer = isKnown ? answerRest(rest, asked) : unauthenticated;
      await options.onRequest?.('done', asked);
      reply(response, answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    baseUrl: `http://127.0.0.1:${port}`,
    accountSid,
    authToken,
    faults,
    owned: numbers.owned,
    triggers,
    calls,
    requests,
    posted,
    ring,
    async reportSpend(dollars) {
      for (const { sid, callbackUrl, triggerValue } of triggers) {
        await callbacksOf(faults).ask(callbackUrl, {
          AccountSid: accountSid,
          UsageTriggerSid: sid,
          UsageCategory: 'totalprice',
          TriggerBy: 'price',
          Recurring: 'monthly',
          TriggerValue: triggerValue,
          CurrentValue: dollars,
          IdempotencyToken: `${sid}-1`,
        });
      }
    },
    async [Symbol.asyncDispose]() {
      for (const call of calls) for (const stream of call.streams) stream.drop();
      time[Symbol.dispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
