import { type AddressInfo, createServer as createSocket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { startBridge } from '../support/asterisk-peer.ts';
import { SIM_ACCOUNT } from '../support/carrier-sim/options.ts';
import { buyNumber, greetWith } from '../support/carrier-world.ts';
import { FakeAsterisk } from '../support/fake-asterisk.ts';
import { phoneSpeech } from '../support/phone-speech.ts';
import { ask, startWorld, type WholeWorld } from '../support/whole-world.ts';

const PUBLIC = 'https://voice.example';
const NUMBERS = Array.from({ length: 6 }, (_, n) => `+1415555010${n + 1}`);
const CALLER = '+14155550199';

const asterisk = new FakeAsterisk();

let world: WholeWorld;
let bridge: Awaited<ReturnType<typeof startBridge>>;
let question: Uint8Array;
beforeAll(async () => {
  const account = {
    TWILIO_ACCOUNT_SID: SIM_ACCOUNT.accountSid,
    TWILIO_AUTH_TOKEN: SIM_ACCOUNT.authToken,
  };
  // The server knows where the bridge is, and the bridge where the server is.
  const free = createSocket();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  world = await startWorld({
    ...account,
    PHONE_CARRIER: 'twilio',
    TWILIO_BASE_URL: `http://127.0.0.1:${port}`,
    PUBLIC_URL: PUBLIC,
  });
  bridge = await startBridge({
    ...account,
    PUBLIC_URL: PUBLIC,
    SERVER_URL: world.url,
    NUMBERS: NUMBERS.join(','),
    BRIDGE_PORT: String(port),
    ...(await asterisk.settings()),
  });
  asterisk.bridgePort = port;
  await vi.waitFor(() => expect(asterisk.isHeard).toBe(true), 10_000);
  question = await phoneSpeech('What is my balance?');
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await bridge[Symbol.asyncDispose]();
  await asterisk[Symbol.asyncDispose]();
});

async function numbered(name: string) {
  const agent = await world.fund(name, 10_000_000n);
  const headers = { authorization: `Bearer ${agent.agentKey}` };
  const phoneNumber = await buyNumber(world.url, headers);
  await greetWith(world.sql, agent.agentId, 'Hello.');
  const ended = async () => {
    const rows = await world.sql<{ payload: Record<string, unknown> }[]>`
      select e.payload from events e join calls c on c.id = e.correlation_id
      where c.agent_id = ${agent.agentId} and e.name = 'call.ended'`;
    return rows.map(({ payload }) => payload);
  };
  return { ...agent, headers, phoneNumber, ended };
}

/** The sound of the call whose media was opened at this place. */
async function soundOf(at: number) {
  await waitFor(() => asterisk.peers.length).toBe(at + 1);
  const peer = asterisk.peers[at];
  if (peer === undefined) throw new Error('the call has sound');
  return peer;
}

const waitFor = <T>(look: () => T) => expect.poll(look, { timeout: 20_000, interval: 20 });

describe('over Asterisk', () => {
  it('an inbound call over Asterisk is greeted, answered, interrupted and hung up, and is charged once', async () => {
    const agent = await numbered('answerer');
    const channel = asterisk.ring(CALLER, agent.phoneNumber);
    const caller = await soundOf(0);
    await waitFor(() => caller.played.length).toBeGreaterThan(20);
    await waitFor(() => caller.marksPassed.length).toBeGreaterThan(0);
    await waitFor(() => caller.queuedFrames).toBe(0);
    const greetingFrames = caller.played.length;
    caller.say(question);
    await waitFor(() => caller.played.length).toBeGreaterThan(greetingFrames + 75);
    caller.say(question);
    await waitFor(() => caller.commands.includes('FLUSH_MEDIA')).toBe(true);
    expect(caller.droppedBytes).toBe(0);
    asterisk.hangUp(channel);
    await waitFor(agent.ended).toMatchObject([
      { reason: 'call_ended', direction: 'inbound', from: CALLER, to: agent.phoneNumber },
    ]);
    const [charged] = await world.sql<{ rows: number }[]>`
      select count(*)::int as rows from charges
      where agent_id = ${agent.agentId} and target_url like '%/call/%'`;
    expect(charged?.rows).toBe(3);
    expect(await checkInvariants(world.sql)).toEqual([]);
  }, 60_000);

  it('an outbound call over Asterisk is heard by the callee, and is hung up by the agent', async () => {
    const agent = await numbered('dialler');
    const body = { toNumber: CALLER };
    const placed = await ask(`${world.url}/v1/calls`, { headers: agent.headers, body });
    expect(placed.status).toBe(201);
    const callee = await soundOf(1);
    await waitFor(() => callee.played.length).toBeGreaterThan(20);
    const [dialled] = asterisk.asked.filter(({ query }) =>
      query.get('endpoint')?.startsWith('PJSIP'),
    );
    expect(dialled?.query.get('endpoint')).toBe(`PJSIP/${CALLER}@trunk`);
    const path = `${world.url}/v1/calls/${String(placed.body.callId)}/hangup`;
    await ask(path, { headers: agent.headers, method: 'POST' });
    await waitFor(() => callee.isOver).toBe(true);
    expect(callee.commands.at(-1)).toBe('HANGUP');
    await waitFor(agent.ended).toMatchObject([{ reason: 'agent_ended', direction: 'outbound' }]);
  }, 60_000);

  it.each([
    [17, 'dial_busy'],
    [19, 'dial_no_answer'],
    [1, 'dial_invalid'],
    [38, 'dial_failed'],
  ])(
    'a call over Asterisk that ends by cause %i is reported once as %s',
    async (cause, endReason) => {
      const agent = await numbered(`cause ${cause}`);
      asterisk.callee = () => ({ cause });
      const body = { toNumber: CALLER };
      const { body: placed } = await ask(`${world.url}/v1/calls`, { headers: agent.headers, body });
      asterisk.callee = () => ({ answers: true });
      const callId = String(placed.callId);
      const read = async () =>
        (await ask(`${world.url}/v1/calls/${callId}`, { headers: agent.headers })).body;
      await waitFor(read).toMatchObject({ terminal: true, endReason });
      const events = await world.sql`
      select name, payload ->> 'reason' as reason from events where correlation_id = ${callId}`;
      expect(events).toEqual([{ name: 'call.rejected', reason: endReason }]);
    },
    60_000,
  );
});
