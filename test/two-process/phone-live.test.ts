import { expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { carrierProcesses, fundAt } from '../support/carrier-processes.ts';
import { buyNumber, greetWith, TO } from '../support/carrier-world.ts';
import { startServerProcess } from '../support/server-process.ts';
import { readEvents } from '../support/sse-reader.ts';
import { ask } from '../support/whole-world.ts';

it('a call can be followed and commanded at a process that does not run the call and at the process that takes over', async () => {
  await using processes = await carrierProcesses({
    numbers: ['+14155556001'],
    callee: () => ({ ringMs: 50 }),
  });
  const { aim, environment, sql } = processes;
  const [having, other] = [
    await startServerProcess(environment),
    await startServerProcess(environment),
  ];
  const agent = await fundAt(other, 'followed', 6_000_000n);
  await buyNumber(other.url, agent.headers);
  await greetWith(sql, agent.agentId, 'Hello, this is your agent.');
  aim(having);
  const placed = await ask(`${having.url}/v1/calls`, {
    headers: agent.headers,
    body: { toNumber: TO },
  });
  const callId = String(placed.body.callId);
  const post = (path: string, body: object) =>
    ask(`${other.url}/v1/calls/${callId}/${path}`, { headers: agent.headers, body });
  await using stream = await readEvents(`${other.url}/v1/calls/${callId}/events`, agent.headers);
  const turns = () => stream.of('turn').map(({ data }) => data.text);
  const soon = <T>(look: () => T) => expect.poll(look, { timeout: 30_000, interval: 100 });
  await soon(turns).toEqual(['Hello, this is your agent.']);
  await post('inject', { text: 'The caller is Ann.' });
  await post('say', { text: 'First text.' });
  await soon(turns).toEqual(['Hello, this is your agent.', 'First text.']);

  aim(other);
  await having.kill();
  await soon(
    async () => (await sql`select streams_opened as n from calls where id = ${callId}`)[0],
  ).toEqual({ n: 2 });
  await post('say', { text: 'Second text.' });
  await soon(() => turns().at(-1)).toBe('Second text.');
  expect(turns().filter((text) => text === 'First text.')).toHaveLength(1);
  await post('hangup', {});
  await stream.ended;
  expect(stream.events.at(-1)).toMatchObject({ type: 'status', data: { terminal: true } });
  expect(stream.of('cost').length).toBeGreaterThan(0);
  expect(await other.stop()).toBe(0);
  expect(await checkInvariants(sql)).toEqual([]);
}, 200_000);
