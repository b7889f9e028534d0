import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { AsteriskPeer, startBridge } from '../support/asterisk-peer.ts';
import { SIM_ACCOUNT } from '../support/carrier-sim/options.ts';
import { buyNumber, greetWith } from '../support/carrier-world.ts';
import { phoneSpeech } from '../support/phone-speech.ts';
import { ask, startWorld, type WholeWorld } from '../support/whole-world.ts';

const PUBLIC = 'https://voice.example';
const NUMBERS = ['+14155550101', '+14155550102'];
const CALLER = '+14155550199';

/** Asterisk's REST interface: every number answers, and is connected to the bridge. */
const ari = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://ari');
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    if (request.method !== 'POST' || pathname !== '/ari/channels') return;
    const { variables } = JSON.parse(Buffer.concat(chunks).toString()) as {
      variables: { BRIDGE_CALL: string };
    };
    dialled.push(searchParams.get('endpoint') ?? '');
    peers.push(new AsteriskPeer(bridge.port, { call: variables.BRIDGE_CALL }));
  });
});
const dialled: string[] = [];
const peers: AsteriskPeer[] = [];

let world: WholeWorld;
let bridge: Awaited<ReturnType<typeof startBridge>>;
let question: Uint8Array;
beforeAll(async () => {
  const account = {
    TWILIO_ACCOUNT_SID: SIM_ACCOUNT.accountSid,
    TWILIO_AUTH_TOKEN: SIM_ACCOUNT.authToken,
  };
  await new Promise<void>((resolve) => ari.listen(0, '127.0.0.1', resolve));
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
    ARI_URL: `http://127.0.0.1:${(ari.address() as AddressInfo).port}/ari`,
  });
  question = await phoneSpeech('What is my balance?');
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await bridge[Symbol.asyncDispose]();
  ari.close();
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

const waitFor = <T>(look: () => T) => expect.poll(look, { timeout: 20_000, interval: 20 });

describe('over Asterisk', () => {
  it('a caller is greeted, asks, is answered, speaks over the answer and hangs up, and pays once', async () => {
    const agent = await numbered('answerer');
    const caller = new AsteriskPeer(bridge.port, { from: CALLER, to: agent.phoneNumber });
    await waitFor(() => caller.played.length).toBeGreaterThan(20);
    await waitFor(() => caller.marksPassed.length).toBeGreaterThan(0);
    await waitFor(() => caller.queuedFrames).toBe(0);
    const greetingFrames = caller.played.length;
    caller.say(question);
    await waitFor(() => caller.played.length).toBeGreaterThan(greetingFrames + 75);
    caller.say(question);
    await waitFor(() => caller.commands.includes('FLUSH_MEDIA')).toBe(true);
    expect(caller.droppedBytes).toBe(0);
    caller.hangUp();
    await waitFor(agent.ended).toMatchObject([
      { reason: 'call_ended', direction: 'inbound', from: CALLER, to: agent.phoneNumber },
    ]);
    const [charged] = await world.sql<{ rows: number }[]>`
      select count(*)::int as rows from charges
      where agent_id = ${agent.agentId} and target_url like '%/call/%'`;
    expect(charged?.rows).toBe(3);
    expect(await checkInvariants(world.sql)).toEqual([]);
  }, 60_000);

  it('an agent calls out over the trunk, is heard, and hangs up', async () => {
    const agent = await numbered('dialler');
    const body = { toNumber: CALLER };
    const placed = await ask(`${world.url}/v1/calls`, { headers: agent.headers, body });
    expect(placed.status).toBe(201);
    await waitFor(() => peers[0]?.played.length ?? 0).toBeGreaterThan(20);
    expect(dialled).toEqual([`PJSIP/${CALLER}@trunk`]);
    const path = `${world.url}/v1/calls/${String(placed.body.callId)}/hangup`;
    await ask(path, { headers: agent.headers, method: 'POST' });
    await waitFor(() => peers[0]?.isOver).toBe(true);
    expect(peers[0]?.commands.at(-1)).toBe('HANGUP');
    await waitFor(agent.ended).toMatchObject([{ reason: 'agent_ended', direction: 'outbound' }]);
  }, 60_000);
});
