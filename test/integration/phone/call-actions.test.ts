import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  findTransferSummary,
  noteTransferSummary,
} from '../../../src/phone/calls/actions/action-store.ts';
import { carryOut } from '../../../src/phone/calls/actions/carry-out.ts';
import { NOT_REACHED } from '../../../src/phone/calls/actions/live-actions.ts';
import { watchMachine } from '../../../src/phone/calls/actions/watch-machine.ts';
import { watchTransfer } from '../../../src/phone/calls/actions/watch-transfer.ts';
import { answerMedia } from '../../../src/phone/calls/answer-media.ts';
import type { Call, CallOptions } from '../../../src/phone/calls/call.ts';
import type { CallDeps } from '../../../src/phone/calls/call-deps.ts';
import { findCall } from '../../../src/phone/calls/call-store.ts';
import { createCarrierHooks } from '../../../src/phone/calls/calls.ts';
import { directCall, hearCarrier } from '../../../src/phone/calls/hear-carrier.ts';
import { type AnsweredBy, CarrierFailed } from '../../../src/phone/carriers/carrier.ts';
import { createLoopbackCodec } from '../../../src/phone/carriers/loopback/loopback-codec.ts';
import { PHONE_LIMITS } from '../../../src/phone/limits.ts';
import { startCallWorld } from '../../support/call-world.ts';
import { phoneCall } from '../../support/phone-line.ts';

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** A call whose media is at one process, and another process on the same database, which the carrier calls. */
async function twoProcesses(options: Partial<CallOptions> = {}) {
  const { callId, carrierCallId } = await world.call(await world.agent(), { answered: true });
  await world.sql`update calls set carrier_call_id = ${carrierCallId} where id = ${callId}`;
  const phone = await phoneCall({ beginMessage: 'One two three four five six.' });
  const call = (await findCall(world.sql, callId)) as Call;
  const own: CallDeps = {
    ...world.deps,
    clock: phone.clock,
    live: new Map([[callId, phone.call]]),
  };
  const other: CallDeps = { ...world.deps, live: new Map() };
  const learned: AnsweredBy[] = [];
  const withOptions = { ...call, options: { ...call.options, ...options } };
  watchMachine(own, withOptions, phone.call, (answeredBy) => learned.push(answeredBy));
  return { ...phone, callId, carrierCallId, learned, other, own };
}

const machine = (carrierCallId: string, answeredBy: AnsweredBy) =>
  ({ kind: 'machine', carrierCallId, answeredBy }) as const;

/** Lets the clock of a call run until something is so, with time for the database in between. */
async function until(passes: (ms: number) => Promise<void>, isSo: () => boolean): Promise<void> {
  for (let halves = 0; halves < 30 && !isSo(); halves++) {
    await passes(500);
    await world.sql`select pg_sleep(0.01)`;
  }
}

describe('the carrier tells one process what another one does', () => {
  it('the process of the media drops the call when another process receives the report of an answering machine', async () => {
    const { carrierCallId, learned, other, over, passes } = await twoProcesses({
      detectsMachine: true,
      onMachine: 'hangup',
    });
    await passes(300);
    await hearCarrier(other, machine(carrierCallId, 'machine_start'));
    await until(passes, () => over.length > 0);
    expect(over).toEqual(['voicemail_reached']);
    expect(learned).toEqual(['machine_start']);
  });

  it('a voicemail message is spoken whole once the greeting is over, even if the carrier repeats or withdraws that report', async () => {
    const { callId, carrierCallId, engines, other, over, passes } = await twoProcesses({
      detectsMachine: true,
      onMachine: 'leave_message',
      machineMessage: 'Please call me back.',
    });
    for (const word of ['machine_start', 'machine_end', 'machine_end', 'unknown'] as const) {
      await hearCarrier(other, machine(carrierCallId, word));
    }
    expect(await world.row(callId)).toMatchObject({ answered_by: 'machine_end' });
    await until(passes, () => over.length > 0);
    expect(over).toEqual(['voicemail_reached']);
    expect(engines.tts.flite.spoken.at(-1)).toBe('Please call me back.');
  });

  it('a call goes on when the carrier reports that a person answered', async () => {
    const { carrierCallId, learned, other, over, passes } = await twoProcesses({
      detectsMachine: true,
      onMachine: 'hangup',
    });
    await hearCarrier(other, machine(carrierCallId, 'human'));
    await until(passes, () => learned.length > 0);
    expect([learned, over]).toEqual([['human'], []]);
  });

  it('a call ends as transferred, once, when the carrier reports that the transfer was answered', async () => {
    const { call, callId, carrierCallId, other, over, own, passes } = await twoProcesses();
    call.actions.transferring();
    watchTransfer(own, callId, call.actions);
    call.detached();
    await passes(2_000);
    expect(over).toEqual([]);
    const transferred = { kind: 'transferred', callId, carrierCallId } as const;
    await hearCarrier(other, transferred);
    await hearCarrier(other, transferred);
    expect(await world.row(callId)).toMatchObject({
      status: 'ending',
      end_reason: 'call_transfer',
    });
    await until(passes, () => over.length > 0);
    expect(over).toEqual(['call_transfer']);
  });

  it('a call ends as left by the caller when the caller hangs up while the transfer rings', async () => {
    const { call, callId, carrierCallId, other, over, own, passes } = await twoProcesses();
    call.actions.transferring();
    watchTransfer(own, callId, call.actions);
    call.detached();
    await hearCarrier(other, {
      kind: 'status',
      callId,
      carrierCallId,
      status: 'completed',
      sequence: 9,
      durationSeconds: 3,
      priceRaw: null,
    });
    await until(passes, () => over.length > 0);
    expect(over).toEqual(['client left']);
  });
});

it('a machine-detection result reaches a call in the same process at once', async () => {
  const { carrierCallId, own, over, passes } = await twoProcesses({
    detectsMachine: true,
    onMachine: 'hangup',
  });
  await hearCarrier(own, machine(carrierCallId, 'machine_start'));
  await passes(20);
  expect(over).toEqual(['voicemail_reached']);
});

it('a call whose transfer is refused after its stream stopped comes back, and its responder is told', async () => {
  const { call, callId, carrierCallId, connection, over, own, passes, says, answers, prompt } =
    await twoProcesses();
  await passes(1_000);
  const instructed: unknown[] = [];
  const carrier = {
    ...own.carrier,
    calls: {
      ...own.carrier.calls,
      async transfer() {
        call.detached();
        throw new CarrierFailed('refused', 'telnyx answered 422');
      },
    },
    callbacks: { instruct: async (...asked: unknown[]) => void instructed.push(asked) },
  } as unknown as CallDeps['carrier'];
  const deps: CallDeps = { ...own, carrier, refusalOf: async () => undefined };
  const recorder = { async finish() {}, async pause() {}, resume() {}, stop() {} };
  const row = (await findCall(world.sql, callId)) as Call;
  carryOut(
    deps,
    row,
    { recorder, transferSeconds: () => 60 },
    { name: 'transfer_call', to: '+14155550123' },
  );
  await expect.poll(() => instructed.length, { interval: 5 }).toBe(1);
  expect(instructed).toEqual([
    [expect.objectContaining({ carrierCallId }), { kind: 'stream', callId }],
  ]);
  const codec = createLoopbackCodec();
  const format = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;
  expect(await answerMedia(deps, { callId, codec, format, connection })).toBe(call);
  await passes(PHONE_LIMITS.call.lineLostMs + 1_000);
  expect(over).toEqual([]);
  answers('Well.');
  await says('and now');
  expect(prompt().slice(-3)).toEqual([
    '[transfer] The other person was not reached: failed.',
    NOT_REACHED,
    'and now',
  ]);
});

it('a failed transfer adds one turn to the history of the call, even if its callback comes twice', async () => {
  const { callId, carrierCallId, other } = await twoProcesses();
  const asked = {
    kind: 'answered',
    callId,
    carrierCallId,
    from: '+14155550100',
    to: '+14155550199',
    isAgain: true,
    transferFailed: 'no-answer',
  } as const;
  expect(await directCall(other, asked)).toEqual({ kind: 'stream', callId });
  await directCall(other, asked);
  const turns = await world.sql`select role, content from call_turns where call_id = ${callId}`;
  expect([...turns]).toEqual([
    { role: 'user', content: '[transfer] The other person was not reached: no-answer.' },
  ]);
});

it('any process can whisper the summary of a transfer, and whispers nothing when the call has no summary', async () => {
  const { callId, other } = await twoProcesses();
  const answered = (summary: string | null) => ({
    status: 200,
    contentType: 'text/plain',
    body: String(summary),
  });
  const carrier = {
    ...other.carrier,
    callbacks: {
      hasSignature: () => true,
      isGenuine: () => true,
      read: () => ({ kind: 'whisper', callId }),
      whisper: answered,
    },
  } as unknown as CallDeps['carrier'];
  const hooks = createCarrierHooks({ ...other, carrier });
  const whispered = async () =>
    (
      await hooks.callback('loopback', 'whisper', {
        url: '',
        headers: {},
        believe: () => {},
        readBody: async () => Buffer.of(),
      })
    ).body;
  expect(await whispered()).toBe('null');
  await noteTransferSummary(world.sql, callId, 'A refund.');
  expect(await findTransferSummary(world.sql, callId)).toBe('A refund.');
  expect(await whispered()).toBe('A refund.');
});
