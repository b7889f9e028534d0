import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import type { CarrierSim } from '../support/carrier-sim/start-carrier-sim.ts';
import { type CarrierWorld, soon, startTwilioWorld, talk } from '../support/carrier-world.ts';
import { phoneSpeech } from '../support/phone-speech.ts';

const TIMEOUT_SECONDS = 2;
const LONG = 'One two three four five six seven eight nine ten eleven twelve thirteen fourteen.';

let world: CarrierWorld<CarrierSim>;
beforeAll(async () => {
  const environment = { PHONE_MEDIA_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) };
  world = await startTwilioWorld({ environment });
});
afterAll(() => world[Symbol.asyncDispose]());

type Agent = Awaited<ReturnType<typeof world.caller>>;

/** Ends as dead, with the line at the carrier. The line is billed without the silence at its end, but for the rounding. */
async function endsDead(agent: Agent, callId: string): Promise<void> {
  await agent.until(callId, { status: 'completed', terminal: true, endReason: 'media_timeout' });
  const receipt = await agent.settledOnce(callId);
  expect(receipt).toMatchObject({ reason: 'media_timeout' });
  await soon(() => expect(agent.lineOf().isOver).toBe(true));
  const lastedSeconds = Number(agent.lineOf().durationSeconds);
  expect(Number(receipt.durationSeconds)).toBeLessThanOrEqual(lastedSeconds - TIMEOUT_SECONDS + 1);
  expect(await checkInvariants(world.sql)).toEqual([]);
}

describe.concurrent('a call whose sound stops while its stream stands', () => {
  it('a call whose stream carries no audio at all ends, and is billed for its opening alone', async () => {
    const agent = await world.caller('never', { faults: { stopsSoundAtMs: 0 } }, LONG);
    await endsDead(agent, await agent.place());
  }, 120_000);

  it('a call whose audio stops within the greeting ends, and is billed to its last audio', async () => {
    const agent = await world.caller('greeted', { faults: { stopsSoundAtMs: 800 } }, LONG);
    await endsDead(agent, await agent.place());
  }, 120_000);

  it('a call whose audio stops within the recording notice ends', async () => {
    const agent = await world.caller('recorded', { faults: { stopsSoundAtMs: 500 } });
    await endsDead(agent, await agent.place({ record: true }));
  }, 120_000);

  it('a call whose audio stops while it is recorded, after a conversation, ends', async () => {
    const faults: { stopsSoundAtMs?: number } = {};
    const agent = await world.caller('talked', { faults });
    const callId = await agent.talking({ record: true });
    const line = agent.lineOf();
    await talk(line, await phoneSpeech('What is my balance?'));
    const stream = line.stream;
    if (stream === undefined) throw new Error('the call has a stream');
    line.faults.stopsSoundAtMs = line.sinceAnswerMs() - stream.beganAtMs;
    await endsDead(agent, callId);
  }, 120_000);

  it('a call whose audio stops ends as hung up when the carrier reports the call as over', async () => {
    const agent = await world.caller('gone', {
      faults: { stopsSoundAtMs: 1_000, losesStatusCallbacks: true },
    });
    const callId = await agent.talking();
    const line = agent.lineOf();
    await soon(() => expect(line.sinceAnswerMs()).toBeGreaterThan(1_200));
    line.endedAtMs = line.deps.time.now();
    line.status = 'completed';
    await agent.until(callId, { status: 'completed', endReason: 'call_ended' });
  }, 120_000);

  it('a call goes on when its stream carries only silence, as from a phone line on hold', async () => {
    const agent = await world.caller('held');
    const callId = await agent.talking();
    await soon(() => expect(agent.lineOf().sinceAnswerMs()).toBeGreaterThan(5_000));
    expect(await agent.read(callId)).toMatchObject({ status: 'in_progress', endReason: null });
    expect(await agent.endedHere(callId)).toMatchObject({ reason: 'agent_ended' });
  }, 120_000);
});
