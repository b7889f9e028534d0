import { expect, it } from 'vitest';
import { EVENT_KINDS } from '../../../src/webhooks/catalogue.ts';
import { numberInGrace, numberReleased } from '../../../src/webhooks/phone-event.ts';

const NUMBER = {
  id: 7,
  accountId: 'acct_1',
  agentWallet: '0xagent',
  phoneNumber: '+12125550100',
  monthlyRentalRaw: 2_000_000n,
};

it('phone number events go to the webhooks of the number’s agent and match their schema', () => {
  const events = [
    numberInGrace(NUMBER, new Date('2026-03-07T12:00:00Z')),
    numberReleased(NUMBER, 'non_payment'),
  ];
  for (const event of events) {
    expect(event).toMatchObject({ accountId: 'acct_1', agentWallet: '0xagent' });
    const kind = EVENT_KINDS.find(({ name }) => name === event.name);
    expect(kind?.payload.strict().parse(event.payload)).toEqual(event.payload);
  }
});
