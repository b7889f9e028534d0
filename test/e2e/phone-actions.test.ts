import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { clampSeconds } from '../../src/models/purchase/clamp-usage.ts';
import { PHONE_LIMITS } from '../../src/phone/limits.ts';
import { callEvents } from '../support/call-receipts.ts';
import type { Callee } from '../support/carrier-sim/options.ts';
import type { SimCall } from '../support/carrier-sim/sim-call.ts';
import type { CarrierSim } from '../support/carrier-sim/start-carrier-sim.ts';
import { type CarrierWorld, soon, startTwilioWorld } from '../support/carrier-world.ts';
import { ask } from '../support/whole-world.ts';

const CARD = '4929120034567891';

type Asked = {
  readonly callId: string;
  readonly text: string;
  readonly digits?: string;
  readonly recentHistory: readonly { readonly content: string }[];
};

let world: CarrierWorld<CarrierSim>;
const logged: string[] = [];
const asked: Asked[] = [];
/** What the backend answers to a call, one after another; then a word. */
const answers = new Map<string, object[]>();
const backend = createServer(async (request: IncomingMessage, response: ServerResponse) => {
  const body = JSON.parse(await text(request)) as Asked;
  asked.push(body);
  response.end(`${JSON.stringify(answers.get(body.callId)?.shift() ?? { text: 'Hm.' })}\n`);
});

beforeAll(async () => {
  backend.listen(0, '127.0.0.1');
  world = await startTwilioWorld({
    environment: { SSRF_ALLOW_LOCALHOST: '1' },
    server: { log: pino({ level: 'trace' }, { write: (line: string) => logged.push(line) }) },
  });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  backend.close();
});

let numbers = 0;

/** Places a call of an agent whose responder is the backend, to a number where `callee` is. */
async function placed(callee: Callee, body: object = {}, told: object[] = []) {
  const to = `+1415555${String(100 + numbers++).padStart(4, '0')}`;
  world.callees.set(to, callee);
  const agent = await world.numbered(`caller ${to.slice(1)}`);
  const { port } = backend.address() as AddressInfo;
  await world.sql`insert into voice_settings (agent_id, voice_mode, webhook_url, begin_message)
    values (${agent.agentId}, 'webhook', ${`http://127.0.0.1:${port}/`}, 'Hello.')`;
  const callId = await agent.place({ toNumber: to, ...body });
  answers.set(callId, told);
  return { ...agent, call: agent.lineOf, callId };
}

/** Waits for the end of a call and returns its receipt. */
async function ended(callId: string): Promise<Record<string, unknown>> {
  await soon(async () => expect(await callEvents(world.sql, callId)).toHaveLength(1));
  return (await callEvents(world.sql, callId))[0] ?? {};
}

const hungUpByUs = ({ sid }: SimCall) =>
  world.sim.requests.some(
    ({ form, path }) => path === `Calls/${sid}` && form.get('Status') === 'completed',
  );

/** What the far side has heard over its present stream. */
const heardMs = (call: () => SimCall) => (call().stream?.playback.heard.length ?? 0) * 20;
const hears = (call: () => SimCall, ms: number) =>
  soon(() => expect(heardMs(call)).toBeGreaterThan(ms));

function press(call: () => SimCall, keys: string): void {
  for (const key of keys) call().stream?.press(key);
}

/** Waits until the carrier has said who has answered. */
const recognised = (callId: string, answeredBy: string) =>
  soon(async () => {
    const rows = await world.sql`select answered_by from calls where id = ${callId}`;
    expect(rows[0]).toMatchObject({ answered_by: answeredBy });
  });

const askedOf = (callId: string) => asked.filter((request) => request.callId === callId);

describe.concurrent('side by side,', { timeout: 120_000 }, () => {
  describe('a call that a machine answers', () => {
    it('a call that a machine answers is dropped at once when the call requests that', async () => {
      const { call, callId } = await placed(
        { answers: 'machine_end_beep', recognisedAtMs: 800 },
        { onMachine: 'hangup' },
      );
      expect(await ended(callId)).toMatchObject({
        reason: 'voicemail_reached',
        answeredBy: 'machine_start',
      });
      await soon(() => expect(call().isOver).toBe(true));
      expect(hungUpByUs(call())).toBe(true);
    });

    it('a call that a machine answers plays its whole message once the greeting is over, and then hangs up', async () => {
      const { call, callId } = await placed(
        { answers: 'machine_end_beep', recognisedAtMs: 2_500 },
        { onMachine: 'leave_message', machineMessage: 'One two three four five six seven.' },
      );
      expect(await ended(callId)).toMatchObject({
        reason: 'voicemail_reached',
        answeredBy: 'machine_end',
      });
      await soon(() => expect(call().isOver).toBe(true));
      const after = call().heard.filter(({ atMs }) => atMs > 2_500);
      expect(after.length * 20).toBeGreaterThan(1_500);
      // It was played to its end: nothing waited in the carrier's buffer any more.
      expect(call().stream?.playback.bufferedMs).toBe(0);
      expect(hungUpByUs(call())).toBe(true);
      expect(askedOf(callId)).toEqual([]);
    });

    it('a call that a machine answers goes on when the call requests nothing else, and its receipt says who answered', async () => {
      const { call, callId } = await placed(
        { answers: 'machine_end_beep', recognisedAtMs: 500 },
        { machineDetection: true },
      );
      await recognised(callId, 'machine_start');
      await hears(call, 100);
      expect(call().isOver).toBe(false);
      call().hangUp();
      expect(await ended(callId)).toMatchObject({
        reason: 'call_ended',
        answeredBy: 'machine_start',
      });
    });

    it('the receipt of a call says who answered when the report and the hang-up come at once', async () => {
      const { call, callId } = await placed({ recognisedAtMs: 60_000 }, { machineDetection: true });
      await hears(call, 100);
      // As when the process that has the media has not read the row since.
      await world.sql`update calls set answered_by = 'human' where id = ${callId}`;
      call().hangUp();
      expect(await ended(callId)).toMatchObject({ reason: 'call_ended', answeredBy: 'human' });
    });

    it('a call that a call-screening service answers goes on, and its keys reach the responder', async () => {
      const { call, callId } = await placed(
        { answers: 'unknown', recognisedAtMs: 500 },
        { onMachine: 'hangup' },
      );
      await recognised(callId, 'unknown');
      await hears(call, 100);
      press(call, '#');
      await soon(() => expect(askedOf(callId)).toHaveLength(1));
      call().hangUp();
      expect(await ended(callId)).toMatchObject({ reason: 'call_ended', answeredBy: 'unknown' });
      expect(askedOf(callId)).toMatchObject([{ text: '[keypad] #' }]);
    });

    it('a call is refused when its machine message is missing, or would never be spoken', async () => {
      const { agentId, headers } = await placed({ answers: 'busy' });
      const refused = async (body: object) =>
        (
          await ask(`${world.url}/v1/calls`, {
            headers,
            body: { toNumber: '+14155550199', ...body },
          })
        ).body.error;
      expect(await refused({ machineMessage: 'Call me.' })).toBe('machine_message_unused');
      await world.sql`update voice_settings set begin_message = null where agent_id = ${agentId}`;
      expect(await refused({ onMachine: 'leave_message' })).toBe('machine_message_required');
      await world.sql`update voice_settings set begin_message = 'Hello.' where agent_id = ${agentId}`;
      const answer = await ask(`${world.url}/v1/calls`, {
        headers,
        body: { toNumber: '+14155550199', onMachine: 'explode' },
      });
      expect(answer.status).toBe(400);
    });
  });

  describe('a call that is transferred', () => {
    const action = { name: 'transfer_call', to: '+14155550900', summary: 'A <refund> & "more".' };

    it('a transferred call ends as transferred once the callee has heard the summary and is connected', async () => {
      world.callees.set(action.to, { ringMs: 300, hangsUpAtMs: 1_500 });
      const { call, callId } = await placed({}, {}, [{ text: 'One moment.', action }]);
      await hears(call, 200);
      press(call, '#');
      const { durationSeconds, reason } = await ended(callId);
      expect(reason).toBe('call_transfer');
      expect(call().isOver).toBe(true);
      // The media stream may have opened seconds after the answer that the carrier counts from.
      const [row] = await world.sql<{ passed: number }[]>`
        select extract(epoch from ended_at - started_at)::float8 as passed from calls
        where id = ${callId}`;
      const told = call().durationSeconds ?? 0;
      expect(told).toBeGreaterThan(0);
      expect(durationSeconds).toBe(Math.ceil(clampSeconds(told, row?.passed ?? 0)));
      expect(call().transfers).toEqual([
        { to: action.to, status: 'completed', whispered: action.summary },
      ]);
      expect(hungUpByUs(call())).toBe(false);
    });

    it('a call whose transfer hears busy comes back under its id: caller and responder are told, and the call goes on', async () => {
      const to = '+14155550901';
      world.callees.set(to, { answers: 'busy', ringMs: 300 });
      const { call, callId, hangUp } = await placed({}, {}, [{ action: { ...action, to } }]);
      await hears(call, 200);
      press(call, '#');
      await soon(() => expect(call().streams.length).toBe(2));
      await hears(call, 800);
      press(call, '5#');
      await soon(() => expect(askedOf(callId)).toHaveLength(2));
      const { recentHistory, text: words } = askedOf(callId)[1] as Asked;
      expect(words).toBe('[keypad] 5#');
      const notes = recentHistory.map(({ content }) => content);
      expect(notes).toContain('[transfer] The other person was not reached: busy.');
      // As far as it was heard before the key.
      expect(notes.some((content) => content.startsWith('I could'))).toBe(true);
      await hangUp(callId);
      expect(await ended(callId)).toMatchObject({ reason: 'agent_ended' });
    });
  });

  it('sensitive digits reach the webhook once, and no row of the database and no line of the log', async () => {
    const gather = {
      name: 'gather_digits',
      maxDigits: CARD.length,
      sensitive: true,
      timeoutSeconds: 20,
    };
    const { call, callId } = await placed({}, { report: true }, [
      { text: 'Your card.', action: gather },
    ]);
    await hears(call, 200);
    press(call, '#');
    await soon(() => expect(askedOf(callId)).toHaveLength(1));
    await hears(call, heardMs(call) + 500);
    press(call, CARD);
    await soon(() => expect(askedOf(callId)).toHaveLength(2));
    // Belongs to the entry, which is whole without it.
    press(call, '#');
    await hears(call, heardMs(call) + 100);
    await setTimeout(PHONE_LIMITS.keypad.restMs + 500);
    expect(askedOf(callId)).toHaveLength(2);
    press(call, '#');
    await soon(() => expect(askedOf(callId)).toHaveLength(3));
    call().hangUp();
    await ended(callId);
    const requests = askedOf(callId);
    expect(requests.map(({ digits }) => digits)).toEqual([undefined, CARD, undefined]);
    expect(requests[1]?.text).toBe('[keypad] 16 digits entered');
    expect(JSON.stringify(requests[2])).not.toContain(CARD);
    const tables = await world.sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`;
    expect(tables.map(({ name }) => name)).toContain('call_turns');
    for (const { name } of tables) {
      const rows = await world.sql`
      select 1 from ${world.sql(name)} as t where t::text like ${`%${CARD}%`}`;
      expect([name, rows.length]).toEqual([name, 0]);
    }
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.filter((line) => line.includes(CARD))).toEqual([]);
    expect(await checkInvariants(world.sql)).toEqual([]);
  });
});
