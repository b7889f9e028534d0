import { expect } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { createTakeSession } from '../../src/ledger/engine/take-session.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { buildCatalogue } from '../../src/models/catalogue/build-catalogue.ts';
import type { RateTexts } from '../../src/models/catalogue/builtin/builtin-model.ts';
import { LOCAL_MODELS } from '../../src/models/catalogue/builtin/local.ts';
import { LOCAL_CASCADE } from '../../src/models/catalogue/catalogue-file.ts';
import { newCallId } from '../../src/phone/calls/call.ts';
import type { CallDeps } from '../../src/phone/calls/call-deps.ts';
import { PHONE_DESTINATION } from '../../src/phone/calls/call-money.ts';
import { advanceRow } from '../../src/phone/calls/call-store.ts';
import { insertCall } from '../../src/phone/calls/opening/new-call-store.ts';
import { createCallSweeper } from '../../src/phone/calls/sweep/sweep-calls.ts';
import {
  type CarrierCall,
  CarrierFailed,
  type CarrierLeg,
  type CarrierStatus,
  type FoundRecording,
} from '../../src/phone/carriers/carrier.ts';
import { RATE_CARD } from '../../src/phone/rate-card.ts';
import { testDatabase } from './database.ts';
import { seedAgents } from './ledger-world.ts';
import { rentNumber } from './phone-world.ts';
import { processOn } from './reaping-process.ts';

const RATES: RateTexts = { text_input_token: '1', text_output_token: '1' };
/** A turn of this model costs more than a minute of the line. */
const DEAR_RATES: RateTexts = { text_input_token: '5', text_output_token: '5' };
const modelAt = (provider: string, rates: RateTexts = RATES) => ({
  id: `${provider}/talker`,
  modality: 'text' as const,
  sources: [{ rail: 'direct-account' as const, provider, upstreamModel: 'talker', rates }],
});
/** A cheap and a dear model that this server sells, and one that only a developer's own key opens. */
const CATALOGUE = buildCatalogue({
  providers: new Map([
    ['sold', { baseUrl: 'http://127.0.0.1:9', dialect: 'openai' }],
    ['local', { baseUrl: null, dialect: 'local' }],
    ['dear', { baseUrl: 'http://127.0.0.1:9', dialect: 'openai' }],
    ['keyed', { baseUrl: 'http://127.0.0.1:9', dialect: 'openai', apiKeyEnv: 'NONE' }],
  ]),
  models: [...LOCAL_MODELS, modelAt('sold'), modelAt('dear', DEAR_RATES), modelAt('keyed')],
  secret: () => undefined,
});

const PLAIN_VOICE = {
  voiceMode: 'hosted',
  systemPrompt: null,
  beginMessage: null,
  voice: null,
  model: null,
  webhookUrl: null,
} as const;

/** Calls of which no process has the media, on a database of their own, with a carrier that a test writes the records of. */
export async function startCallWorld(leaseMs = 60_000) {
  const db = await testDatabase(16);
  const { sql } = db;
  const main = await processOn(sql, 'main', leaseMs);
  const records = new Map<string, CarrierCall>();
  const recordings = {
    /** What the carrier was asked, in its order. */
    asked: [] as string[],
    /** So many requests fail. */
    fails: 0,
    failure: 'away' as 'away' | 'refused',
    /** What it has, by its name of the call. */
    found: new Map<string, FoundRecording>(),
  };
  const ask = async (what: string) => {
    recordings.asked.push(what);
    if (recordings.fails-- > 0) throw new CarrierFailed(recordings.failure, 'no');
  };
  const hungUp: string[] = [];
  /** So many hang-ups the carrier answers with a failure of its own. */
  const hangUps = { fails: 0 };
  const deps = {
    sql,
    ledger: main.ledger,
    takeSession: createTakeSession({ sql, node: main.node }),
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    concurrentCalls: { agent: 3, account: 10 },
    mediaTimeoutMs: 10_000,
    carrierLimitUsd: 50,
    rateCard: RATE_CARD,
    catalogue: CATALOGUE,
    models: { llm: 'sold/talker', ...LOCAL_CASCADE },
    cascades: {
      chat: { railOf: () => ({}) },
      providerKeys: { find: async () => undefined, noteUse: async () => {} },
    },
    recordingDays: 30,
    publicUrl: 'https://phone.example/',
    dialling: { countries: ['US', 'CA'], callingHours: { from: 0, until: 24 } },
    voiceOf: async () => PLAIN_VOICE,
    askInbound: async () => undefined,
    live: new Map(),
    carrier: {
      name: 'loopback',
      calls: {
        find: async (carrierCallId: string) => records.get(carrierCallId),
        hangUp: async (carrierCallId: string) => {
          if (hangUps.fails-- > 0) throw new CarrierFailed('away', 'the carrier answered 503');
          hungUp.push(carrierCallId);
        },
        startRecording: async ({ carrierCallId }: CarrierLeg) => {
          await ask(`start ${carrierCallId}`);
          return `RE${carrierCallId}`;
        },
        pauseRecording: ({ carrierCallId }: CarrierLeg) => ask(`pause ${carrierCallId}`),
        resumeRecording: ({ carrierCallId }: CarrierLeg) => ask(`resume ${carrierCallId}`),
        stopRecording: ({ carrierCallId }: CarrierLeg) => ask(`stop ${carrierCallId}`),
        findRecording: async ({ carrierCallId }: CarrierLeg): Promise<FoundRecording> =>
          recordings.found.get(carrierCallId) ?? { kind: 'none' },
        deleteRecording: (recordingId: string) => ask(`delete ${recordingId}`),
        fetchRecording: async (recordingId: string) => [Buffer.from(recordingId)],
      },
    },
  } as unknown as CallDeps;
  const sweeper = createCallSweeper(deps);
  let agents = 0;

  async function agent(amountRaw = 5_000_000n) {
    const [seeded] = await seedAgents(sql, 1);
    if (seeded === undefined) throw new Error('an agent was made');
    const { agentId } = seeded;
    if (amountRaw > 0n) {
      await main.ledger.credit({ agentId, amountRaw, reference: `credit ${++agents}` });
    }
    const phoneNumber = `+1415555${3_000 + agents}`;
    await rentNumber(sql, agentId, phoneNumber);
    const [row] = await sql<{ account: string }[]>`
      select account_id as account from agents where id = ${agentId}`;
    return { agentId, accountId: row?.account ?? '', phoneNumber };
  }

  /** A call as its process left it: rung, or answered with its reserve held. */
  async function call(
    { agentId, accountId, phoneNumber }: Awaited<ReturnType<typeof agent>>,
    {
      answered = false,
      isRecorded = false,
      rates = RATE_CARD,
      reserveRaw = 2_000_000n,
      wantsReport = false,
    } = {},
  ) {
    const callId = newCallId(systemRandom);
    const carrierCallId = `LB${callId}`;
    await insertCall(
      sql,
      {
        callId,
        agentId,
        accountId,
        numberId: 1,
        carrier: 'loopback',
        carrierCallId,
        direction: 'outbound',
        from: phoneNumber,
        to: '+14155550199',
        keyId: null,
        taskId: callId.toLowerCase(),
        taskValueBps: null,
        actionId: null,
        customerId: null,
        maxSpendRaw: reserveRaw,
        rates,
        options: {
          voice: PLAIN_VOICE,
          detectsMachine: false,
          isRecorded,
          wantsReport,
        },
        dueInMs: 0,
      },
      { agent: 1_000, account: 1_000 },
    );
    if (answered) {
      const opened = await main.ledger.openSession({
        spender: { agentId, taskId: callId.toLowerCase() },
        sessionId: callId,
        reserveRaw,
        kind: 'call',
        target: `phone://${phoneNumber}/call/${callId}`,
        model: 'phone',
        destination: PHONE_DESTINATION,
        account: 'telephony',
      });
      if (opened.kind !== 'opened') throw new Error('the reserve was held');
      await advanceRow(sql, callId, { type: 'media.opened' });
    }
    return { callId, carrierCallId };
  }

  return {
    agent,
    call,
    deps,
    hangUps,
    hungUp,
    main,
    recordings,
    sql,
    sweep: () => sweeper.tick(),
    /** What the carrier says of a call, which is true: an answered call began that long ago. */
    async record(
      carrierCallId: string,
      status: CarrierStatus,
      durationSeconds: number | null = null,
    ): Promise<void> {
      this.say(carrierCallId, status, durationSeconds);
      await sql`
        update calls set started_at = least(started_at,
          coalesce(ended_at, now()) - ${durationSeconds ?? 0} * interval '1 second')
        where carrier_call_id = ${carrierCallId} and started_at is not null`;
    },
    /** What the carrier says of a call, whatever is true. */
    say(carrierCallId: string, status: CarrierStatus, durationSeconds: number | null) {
      records.set(carrierCallId, { carrierCallId, status, durationSeconds, priceRaw: null });
    },
    /** An answered call began so many seconds ago. */
    began: (callId: string, seconds: number) => sql`
      update calls set started_at = now() - ${seconds} * interval '1 second' where id = ${callId}`,
    /** The process that held the call is gone. */
    loseProcess: (callId: string) => sql`update sessions set node_id = 'gone' where id = ${callId}`,
    due: (callId: string) => sql`update calls set due_at = now() where id = ${callId}`,
    async row(callId: string): Promise<Record<string, unknown> | undefined> {
      const [row] = await sql`select * from calls where id = ${callId}`;
      return row;
    },
    async ended(callId: string) {
      const rows = await sql<{ payload: Record<string, unknown> }[]>`
        select payload from events where correlation_id = ${callId} and name = 'call.ended'`;
      return rows.map(({ payload }) => payload);
    },
    faults: () => checkInvariants(sql),
    /** An answered call whose process lives and has journaled so many seconds of the line. */
    async journaledCall({ raw, seconds }: { readonly raw: bigint; readonly seconds: number }) {
      const agent = await this.agent();
      const { callId, carrierCallId } = await this.call(agent, { answered: true });
      const taken = await deps.takeSession(callId);
      if (taken === undefined) throw new Error('the session lives');
      const usage = { line_second: seconds };
      await main.ledger.journal(taken.claim, [{ seq: 1, costRaw: raw, usage }]);
      return { agent, callId, carrierCallId, claim: taken.claim };
    },
    /** Fails unless the sweeper has settled a call with nothing but its line, out of a balance of 5,000,000. */
    async expectBackstop(
      { agent, callId }: { readonly agent: { readonly agentId: number }; readonly callId: string },
      { raw, seconds }: { readonly raw: bigint; readonly seconds: number },
    ): Promise<void> {
      expect(await this.row(callId)).toMatchObject({
        status: 'completed',
        terminal: true,
        is_backstop: true,
        duration_seconds: seconds,
        transport_raw: raw,
      });
      expect(await this.ended(callId)).toMatchObject([
        { reason: 'backstop_settled', durationSeconds: seconds, transportRaw: `${raw}` },
      ]);
      expect(await main.ledger.funds(agent.agentId)).toMatchObject({
        spendableRaw: 5_000_000n - raw,
        heldRaw: 0n,
      });
      expect(await this.faults()).toEqual([]);
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}
