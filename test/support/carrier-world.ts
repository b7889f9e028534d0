import { expect, vi } from 'vitest';
import type { ServerDeps } from '../../src/app/build/world.ts';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { expectInboundRate, expectSettledOnce } from './call-receipts.ts';
import { type Callee, type CarrierSimOptions, SIM_ACCOUNT } from './carrier-sim/options.ts';
import type { SimCarrier } from './carrier-sim/serve-sim.ts';
import type { SimCall } from './carrier-sim/sim-call.ts';
import { type CarrierSim, startCarrierSim } from './carrier-sim/start-carrier-sim.ts';
import { startTelnyxSim, type TelnyxSim } from './carrier-sim/telnyx/start-telnyx-sim.ts';
import type { TelnyxCall } from './carrier-sim/telnyx/telnyx-call.ts';
import { ask, settledMoney, startWorld, type WholeWorld } from './whole-world.ts';

/** The address under which a carrier knows the server. */
export const PUBLIC = 'https://voice.example';
/** Whom agents call, if a test names nobody else. */
export const TO = '+14155550199';
/** The first month of a number, in raw units. */
export const RENTAL_RAW = 2_000_000n;

type Line = SimCall | TelnyxCall;
type Headers = { readonly authorization: string };

/** Where a public address of the server at `serverUrl` is reached on this machine. */
export const reachedAt = (publicUrl: string, serverUrl: string): string =>
  publicUrl
    .replace(PUBLIC, serverUrl)
    .replace(PUBLIC.replace('https', 'wss'), serverUrl.replace('http', 'ws'));

/** The environment of a server whose carrier is this Twilio. */
export const behindTwilio = ({ baseUrl }: Pick<CarrierSim, 'baseUrl'>): Record<string, string> => ({
  PHONE_CARRIER: 'twilio',
  TWILIO_ACCOUNT_SID: SIM_ACCOUNT.accountSid,
  TWILIO_AUTH_TOKEN: SIM_ACCOUNT.authToken,
  TWILIO_BASE_URL: baseUrl,
  PUBLIC_URL: PUBLIC,
  PHONE_DIALS_PER_SECOND: '1000',
});

/** The environment of a server whose carrier is this Telnyx. */
const behindTelnyx = (sim: TelnyxSim): Record<string, string> => ({
  PHONE_CARRIER: 'telnyx',
  TELNYX_API_KEY: sim.apiKey,
  TELNYX_PUBLIC_KEY: sim.publicKey,
  TELNYX_CONNECTION_ID: sim.connectionId,
  TELNYX_BASE_URL: sim.baseUrl,
  PUBLIC_URL: PUBLIC,
  PHONE_DIALS_PER_SECOND: '1000',
});

type WorldOptions = {
  readonly sim?: CarrierSimOptions;
  readonly environment?: Readonly<Record<string, string>>;
  readonly server?: Partial<ServerDeps>;
};

export type CarrierWorld<Sim extends SimCarrier<Line, unknown>> = WholeWorld & {
  readonly sim: Sim;
  /** Who is at the other end, by the number that is called or that calls; by default a person who says nothing. */
  readonly callees: Map<string, Callee>;
  /** An agent with a number that was bought of the carrier. */
  numbered(name: string): Promise<NumberedAgent<Sim['calls'][number]>>;
  /** Such an agent with something to say at the begin, and who answers its calls. */
  caller(
    name: string,
    callee?: Callee,
    beginMessage?: string,
  ): Promise<NumberedAgent<Sim['calls'][number]>>;
};

/** A whole server behind a simulated Twilio. */
export const startTwilioWorld = (options: WorldOptions = {}): Promise<CarrierWorld<CarrierSim>> =>
  startCarrierWorld(startCarrierSim, behindTwilio, options);

/** A whole server behind a simulated Telnyx. */
export const startTelnyxWorld = (options: WorldOptions = {}): Promise<CarrierWorld<TelnyxSim>> =>
  startCarrierWorld(
    (sim) => startTelnyxSim({ webhookUrl: `${PUBLIC}/v1/telephony/telnyx/voice`, ...sim }),
    behindTelnyx,
    options,
  );

async function startCarrierWorld<Sim extends SimCarrier<Line, unknown>>(
  startSim: (options: CarrierSimOptions) => Promise<Sim>,
  environmentOf: (sim: Sim) => Readonly<Record<string, string>>,
  options: WorldOptions,
): Promise<CarrierWorld<Sim>> {
  let serverUrl = '';
  const callees = new Map<string, Callee>();
  const sim = await startSim({
    numbers: Array.from({ length: 60 }, (_, n) => `+1415555${4_000 + n}`),
    callee: ({ from, to }) => callees.get(to) ?? callees.get(from) ?? {},
    reach: (url) => reachedAt(url, serverUrl),
    ...options.sim,
  });
  const world = await startWorld(
    { ...environmentOf(sim), ...options.environment },
    options.server ?? {},
  );
  serverUrl = world.url;
  const numbered = async (name: string) => {
    const agent = await world.fund(name, 10_000_000n);
    return await withNumber<Sim['calls'][number]>(world, sim, agent);
  };
  return {
    ...world,
    sim,
    callees,
    numbered,
    async caller(name, callee = {}, beginMessage = 'Hello.') {
      const agent = await numbered(name);
      callees.set(agent.phoneNumber, callee);
      await greetWith(world.sql, agent.agentId, beginMessage);
      return agent;
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await sim[Symbol.asyncDispose]();
    },
  };
}

/** What an agent says when a call begins. */
export const greetWith = async (sql: Sql, agentId: number, beginMessage: string): Promise<void> => {
  await sql`
    insert into voice_settings (agent_id, begin_message) values (${agentId}, ${beginMessage})`;
};

/** Buys a number in San Francisco for the agent of a key. */
export async function buyNumber(serverUrl: string, headers: Headers): Promise<string> {
  const bought = await ask(`${serverUrl}/v1/numbers`, { headers, body: { areaCode: '415' } });
  expect(bought.status).toBe(201);
  return (bought.body as { number: { phoneNumber: string } }).number.phoneNumber;
}

export type NumberedAgent<Call extends Line> = FundedAgent & {
  readonly headers: Headers;
  readonly phoneNumber: string;
  /** Places a call, to `TO` if nothing else is asked for. Answers its id. */
  place(body?: object): Promise<string>;
  /** Places a call and waits until it is talked. */
  talking(body?: object): Promise<string>;
  /** The agent's first call, as the carrier has it. Throws as long as there is none. */
  lineOf(): Call;
  read(callId: string): Promise<Record<string, unknown>>;
  until(callId: string, state: object): Promise<void>;
  hangUp(callId: string): Promise<void>;
  /** The receipt of a call that is over: it is what the ledger took, once. */
  settledOnce(callId: string): Promise<Record<string, unknown>>;
  /** The agent hangs up. Answers the receipt. */
  endedHere(callId: string): Promise<Record<string, unknown>>;
  /** The far side hangs up. Answers the receipt. */
  endedThere(callId: string): Promise<Record<string, unknown>>;
  /** The agent's only call came from `TO` and is over: it cost the inbound rate, once. Answers its id. */
  settledInbound(): Promise<string>;
};

async function withNumber<Call extends Line>(
  { url, sql }: WholeWorld,
  sim: { readonly calls: readonly Call[] },
  funded: FundedAgent,
): Promise<NumberedAgent<Call>> {
  const headers = { authorization: `Bearer ${funded.agentKey}` };
  const phoneNumber = await buyNumber(url, headers);
  const agent: NumberedAgent<Call> = {
    ...funded,
    headers,
    phoneNumber,
    async place(body = {}) {
      const placed = await ask(`${url}/v1/calls`, { headers, body: { toNumber: TO, ...body } });
      expect(placed).toMatchObject({ status: 201 });
      return String(placed.body.callId);
    },
    async talking(body) {
      const callId = await agent.place(body);
      await agent.until(callId, { status: 'in_progress' });
      return callId;
    },
    lineOf() {
      const line = sim.calls.find(({ from, to }) => from === phoneNumber || to === phoneNumber);
      if (line === undefined) throw new Error('the carrier has no call of this number');
      return line;
    },
    read: async (callId) => (await ask(`${url}/v1/calls/${callId}`, { headers })).body,
    until: (callId, state) =>
      soon(async () => expect(await agent.read(callId)).toMatchObject(state)),
    async hangUp(callId) {
      await ask(`${url}/v1/calls/${callId}/hangup`, { headers, method: 'POST' });
    },
    settledOnce: (callId) => expectSettledOnce(sql, funded.agentId, callId),
    async endedHere(callId) {
      await agent.hangUp(callId);
      await agent.until(callId, { status: 'completed', terminal: true });
      return agent.settledOnce(callId);
    },
    async endedThere(callId) {
      agent.lineOf().hangUp();
      await agent.until(callId, { status: 'completed', terminal: true });
      return agent.settledOnce(callId);
    },
    async settledInbound() {
      const rows = await sql<{ id: string }[]>`
        select id from calls where agent_id = ${funded.agentId}`;
      expect(rows).toHaveLength(1);
      const callId = rows[0]?.id ?? '';
      await agent.until(callId, { status: 'completed', terminal: true });
      const receipt = await agent.settledOnce(callId);
      expect(receipt).toMatchObject({ direction: 'inbound', from: TO, to: phoneNumber });
      expectInboundRate(receipt);
      return callId;
    },
  };
  return agent;
}

/** Waits until nothing of a check fails any more. Calls go side by side: `expect.poll` knows one test at a time. */
export const soon = async (check: () => unknown): Promise<void> => {
  await vi.waitFor(check, { timeout: 110_000, interval: 50 });
};

/** Waits until the far side has heard something, and then nothing for so long. */
export const heardOut = (line: Line, quietMs: number): Promise<void> =>
  soon(() => {
    const lastHeardMs = line.heard.at(-1)?.atMs ?? Number.POSITIVE_INFINITY;
    expect(line.sinceAnswerMs()).toBeGreaterThan(lastHeardMs + quietMs);
  });

/** The far side asks something once the greeting is over, and waits until it has heard 300 ms of an answer. */
export async function talk(line: Line, question: Uint8Array): Promise<void> {
  await heardOut(line, 400);
  await line.say(question);
  const askedAtMs = line.sinceAnswerMs();
  await soon(() =>
    expect(line.heard.filter(({ atMs }) => atMs > askedAtMs).length).toBeGreaterThan(15),
  );
}

/** A call that does not come about is over, and its agent has paid for nothing but its number. */
export async function expectUnansweredFree(
  world: CarrierWorld<CarrierSim> | CarrierWorld<TelnyxSim>,
  answers: 'busy' | 'no-answer' | 'failed',
): Promise<void> {
  const callee = { answers, ringMs: 200 };
  const agent = await world.caller(`un ${answers.replace('-', ' ')}`, callee);
  const callId = await agent.place();
  const status = answers === 'failed' ? 'failed' : 'pending';
  await agent.until(callId, { terminal: true, status });
  expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(RENTAL_RAW);
}
