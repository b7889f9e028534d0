import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { EventRow } from '../../../src/ledger/rules/companion.ts';
import {
  callEnded,
  callRejected,
  callStarted,
  type EventCall,
} from '../../../src/phone/calls/call-events.ts';
import { EVENT_KINDS } from '../../../src/webhooks/catalogue.ts';
import {
  jobCompleted,
  marketplaceSold,
  paymentSettled,
  spendCapHit,
  tripwireTriggered,
} from '../../../src/webhooks/payment-event.ts';
import { numberInGrace, numberReleased } from '../../../src/webhooks/phone-event.ts';

const OWNER = { accountId: 'acct_1', agentId: 7, wallet: '0xaa' };
const CALL: EventCall = {
  callId: 'call_1',
  accountId: 'acct_1',
  direction: 'outbound',
  wallet: '0xaa',
  from: '+14155550100',
  to: '+14155550101',
  taskId: 'task-1',
  customerId: null,
  answeredBy: 'human',
};
const RECEIPT = {
  reason: 'backstop_settled',
  durationSeconds: 3,
  isBackstop: true,
  legs: { transportRaw: 1n, sttRaw: 0n, ttsRaw: 0n },
};
const SALE = { url: 'https://v.example/a', host: 'v.example', amountRaw: 5n };
const NUMBER = { id: 1, accountId: 'acct_1', agentWallet: '0xaa', phoneNumber: '+14155550100' };

const EVENTS: readonly EventRow[] = [
  callStarted(CALL),
  callEnded(CALL, RECEIPT),
  callRejected(CALL, 'busy'),
  marketplaceSold({ ...OWNER, ...SALE, reference: 'hold_1' }),
  paymentSettled({ ...OWNER, ...SALE, txHash: '0x1', nonce: '0x2' }),
  jobCompleted({
    accountId: 'acct_1',
    wallet: '0xaa',
    jobId: 'job_1',
    vendor: 'v',
    status: 'completed',
  }),
  numberInGrace({ ...NUMBER, monthlyRentalRaw: 2n }, new Date(0)),
  numberReleased(NUMBER, 'grace_ended'),
  spendCapHit({
    ...OWNER,
    url: SALE.url,
    host: SALE.host,
    error: 'spend_limit_exceeded',
    policyId: 4,
    required: '1',
    spent: '2',
    limit: '3',
  }),
  tripwireTriggered({
    accountId: 'acct_1',
    wallet: '0xaa',
    vendor: 'v',
    tripwire: 'price',
    expected: '1',
    observed: '2',
    reference: 'hold_1',
  }),
];

describe('the schema of an event', () => {
  it.each(EVENTS.map((event) => [event.name, event] as const))(
    'the schema of the event %s has every member that is sent and requires no other',
    (name, { payload }) => {
      const kind = EVENT_KINDS.find((known) => known.name === name);
      const shape = z.strictObject(kind?.payload.shape ?? {});
      expect(shape.safeParse(payload).error?.issues ?? []).toEqual([]);
    },
  );
});
