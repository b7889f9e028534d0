import { expect, it } from 'vitest';
import type { CallDeps } from '../../../src/phone/calls/call-deps.ts';
import { placeCall } from '../../../src/phone/calls/place-call.ts';
import type { DialRequest } from '../../../src/phone/carriers/carrier.ts';
import { PHONE_LIMITS } from '../../../src/phone/limits.ts';
import { startCallWorld } from '../../support/call-world.ts';

it("the carrier's time limit for a call leaves room for the call's own end and its last words", async () => {
  await using world = await startCallWorld();
  const { accountId, agentId } = await world.agent();
  const dialled: DialRequest[] = [];
  const dial = async (request: DialRequest) => {
    dialled.push(request);
    return { carrierCallId: 'LB1' };
  };
  const carrier = { ...world.deps.carrier, calls: { ...world.deps.carrier.calls, dial } };
  const deps: CallDeps = { ...world.deps, carrier, refusalOf: async () => undefined };
  await placeCall(deps, {
    agentId,
    accountId,
    spender: {},
    to: '+14155550199',
    maxSpendRaw: undefined,
    detectsMachine: false,
    wantsReport: false,
    isRecorded: false,
  });
  const { lastWordsMs, lineLostMs, longestSeconds: longestCallSeconds } = PHONE_LIMITS.call;
  const ownEndMs = longestCallSeconds * 1_000 + lineLostMs + lastWordsMs;
  expect((dialled[0]?.longestSeconds ?? 0) * 1_000).toBeGreaterThan(ownEndMs);
});
