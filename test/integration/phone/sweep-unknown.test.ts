import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCallWorld } from '../../support/call-world.ts';

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const LINE_SECONDS = 12;
/** What they cost at 14,700 a minute. */
const LINE_RAW = 2_940n;

/** An answered call whose process has journaled some seconds and lives, and that began so long ago. */
async function living(ago: string) {
  const call = await world.journaledCall({ seconds: LINE_SECONDS, raw: LINE_RAW });
  await world.sql`update calls set started_at = now() - ${ago}::interval where id = ${call.callId}`;
  return call;
}

const isSettledByItsJournal = (call: Awaited<ReturnType<typeof living>>) =>
  world.expectBackstop(call, { seconds: LINE_SECONDS, raw: LINE_RAW });

const dueSince = (callId: string, ago: string) =>
  world.sql`update calls set due_at = now() - ${ago}::interval where id = ${callId}`;

describe('a call of which the carrier says nothing', () => {
  it.each([
    ['does not know it', undefined],
    ['does not say how long it was', 'completed'],
  ] as const)('a call is left to its living process when the carrier %s', async (_, said) => {
    const call = await living('50 minutes');
    if (said !== undefined) await world.record(call.carrierCallId, said);
    await world.sweep();
    expect(await world.row(call.callId)).toMatchObject({ status: 'in_progress', terminal: false });
    await world.loseProcess(call.callId);
    await world.due(call.callId);
    await world.sweep();
    await isSettledByItsJournal(call);
  });

  it('a call without a carrier status is settled once it exceeds the maximum duration', async () => {
    const call = await living('62 minutes');
    await world.sweep();
    await isSettledByItsJournal(call);
  });
});

describe('a call of another carrier than that of the process', () => {
  /** Ours would say that it is over, if it were asked. */
  async function elsewhere() {
    const call = await living('10 minutes');
    await world.sql`update calls set carrier = 'twilio' where id = ${call.callId}`;
    await world.record(call.carrierCallId, 'completed', 61);
    return call;
  }

  it('a call of another carrier is left to the processes of that carrier while one of them may look it up', async () => {
    const { callId } = await elsewhere();
    await world.loseProcess(callId);
    await dueSince(callId, '50 seconds');
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({ status: 'in_progress', terminal: false });
  });

  it('a call of another carrier is left to its own process while that lives, and settled by its journal afterwards', async () => {
    const call = await elsewhere();
    await dueSince(call.callId, '61 seconds');
    await world.sweep();
    expect(await world.row(call.callId)).toMatchObject({ status: 'in_progress', terminal: false });
    await world.loseProcess(call.callId);
    await dueSince(call.callId, '61 seconds');
    await world.sweep();
    await isSettledByItsJournal(call);
  });

  it('an unanswered call of another carrier has failed, and takes no concurrency slot of its agent', async () => {
    const { callId, carrierCallId } = await world.call(await world.agent());
    await world.sql`update calls set carrier = 'twilio' where id = ${callId}`;
    await world.record(carrierCallId, 'ringing');
    await dueSince(callId, '61 seconds');
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({ status: 'failed', terminal: true });
    expect(world.hungUp).not.toContain(carrierCallId);
  });
});
