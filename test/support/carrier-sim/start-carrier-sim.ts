import { Callbacks, type PostedCallback } from './callbacks.ts';
import { type Callee, type CarrierSimOptions, type Faults, SIM_ACCOUNT } from './options.ts';
import { answerRest, type RestRequest, type Trigger, unauthenticated } from './rest.ts';
import { type SimCarrier, serveSim, simParts } from './serve-sim.ts';
import { type CallSettings, SimCall, type SimCallDeps } from './sim-call.ts';

/** What Twilio takes for a minute, in dollars. */
const MINUTE_PRICE = 0.014;
const HOUR_MS = 3_600_000;

export type CarrierSim = SimCarrier<SimCall, RestRequest> & {
  readonly accountSid: string;
  readonly authToken: string;
  readonly triggers: readonly Trigger[];
  readonly posted: readonly PostedCallback[];
  /** Tells every trigger what was spent this month, in dollars. */
  reportSpend(dollars: string, firedAtMs: number): Promise<void>;
};

/** A carrier on loopback that speaks Twilio's REST, its signed callbacks and its media streams. */
export async function startCarrierSim(options: CarrierSimOptions = {}): Promise<CarrierSim> {
  const { accountSid, authToken } = { ...SIM_ACCOUNT, ...options };
  const { deps: shared, numbers, calls, requests } = simParts<SimCall, RestRequest>(options);
  const { time, faults, reach, calleeOf } = shared;
  const posted: PostedCallback[] = [];
  const callbacksOf = (made: Faults) => new Callbacks(authToken, made, reach, posted);
  const triggers: Trigger[] = [];
  const deps: SimCallDeps = { ...shared, callbacksOf, accountSid };

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
  const served = await serveSim(
    { deps, calls, ring, port: options.port },
    async ({ method, url, authorization, body }) => {
      if (!url.pathname.startsWith(root)) return { status: 404 };
      const asked = {
        method,
        path: url.pathname.slice(root.length).replace(/\.json$/, ''),
        query: url.searchParams,
        form: new URLSearchParams(body),
      };
      requests.push(asked);
      await options.onRequest?.('asked', asked);
      const answer = authorization === credential ? answerRest(rest, asked) : unauthenticated;
      await options.onRequest?.('done', asked);
      return answer;
    },
  );

  return {
    ...served,
    accountSid,
    authToken,
    faults,
    triggers,
    calls,
    requests,
    posted,
    ring,
    owned: numbers.owned,
    async reportSpend(dollars, firedAtMs) {
      for (const { sid, callbackUrl, triggerValue } of triggers) {
        await callbacksOf(faults).ask(callbackUrl, {
          AccountSid: accountSid,
          UsageTriggerSid: sid,
          UsageCategory: 'totalprice',
          TriggerBy: 'price',
          Recurring: 'monthly',
          TriggerValue: triggerValue,
          CurrentValue: dollars,
          DateFired: new Date(firedAtMs).toUTCString(),
          IdempotencyToken: `${sid}-1`,
        });
      }
    },
  };
}
