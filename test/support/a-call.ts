import type { Call } from '../../src/phone/calls/call.ts';
import { PHONE_LIMITS } from '../../src/phone/limits.ts';
import { RATE_CARD } from '../../src/phone/rate-card.ts';

let calls = 0;

/** A call from outside that rings at an agent, to be changed as a test needs it. */
export const aCall = (change: Partial<Call> = {}): Call => ({
  callId: `CA${String(++calls).padStart(32, '0')}`,
  agentId: 1,
  accountId: 'account',
  numberId: 1,
  carrier: 'loopback',
  carrierCallId: `LB${calls}`,
  direction: 'inbound',
  from: '+14155550199',
  to: '+14155550100',
  status: 'pending',
  terminal: false,
  endReason: null,
  keyId: null,
  keyRootId: null,
  taskId: 'task',
  taskValueBps: null,
  actionId: null,
  customerId: null,
  maxSpendRaw: PHONE_LIMITS.call.ceilingRaw,
  rates: RATE_CARD,
  options: {
    voice: {
      voiceMode: 'hosted',
      systemPrompt: null,
      beginMessage: null,
      voice: null,
      model: null,
      webhookUrl: null,
    },
    detectsMachine: false,
    isRecorded: false,
    wantsReport: false,
  },
  carrierStatus: null,
  carrierSequence: -1,
  createdAt: new Date(0),
  startedAt: null,
  endedAt: null,
  durationSeconds: null,
  legs: null,
  ...change,
});
