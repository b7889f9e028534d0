import { expect, it } from 'vitest';
import { readRecipients } from '../../../../src/phone/batches/read-recipients.ts';
import { usualStallMs } from '../../../support/longest-stall.ts';

it('readRecipients reads each recipient on its own, and names the invalid and duplicate ones', async () => {
  const given = [
    { to: '+14155550100', variables: { name: 'Ann' } },
    { to: '+14155550101', variables: { 'no name': 1 } },
    { to: 'x'.repeat(40) },
    null,
    { to: '+14155550100' },
  ];
  const { recipients, refused } = await readRecipients(given);
  expect([...recipients]).toMatchObject([
    [0, { to: '+14155550100', overrides: { variables: { name: 'Ann' } } }],
  ]);
  expect(refused).toMatchObject([
    { index: 1, to: '+14155550101', error: 'invalid_recipient' },
    { index: 2, to: 'x'.repeat(32), error: 'invalid_recipient' },
    { index: 3, to: null, error: 'invalid_recipient' },
    { index: 4, to: '+14155550100', error: 'duplicate_recipient' },
  ]);
});

it('readRecipients reads a thousand recipients with own settings without a stall of the event loop over 25 ms', async () => {
  const variables = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`v${n}`, 'value']));
  const given = Array.from({ length: 1_000 }, (_, n) => ({
    to: `+1${4_155_000_000 + n}`,
    variables,
    language: 'en-US',
    keyterms: ['Acme', 'order'],
    beginMessage: 'Hello {{v1}}, this is about your order.',
  }));
  const stallMs = await usualStallMs(25, async () => {
    expect((await readRecipients(given)).recipients.size).toBe(1_000);
  });
  expect(stallMs).toBeLessThan(25);
});
