import { describe, expect, it } from 'vitest';
import { createTargetCheck } from '../../../../src/payments/proxy/check-target.ts';
import { createProbe } from '../../../../src/payments/quotes/probe-target.ts';
import {
  BlockedDestination,
  Unreachable,
} from '../../../../src/platform/egress/blocked-destination.ts';
import { SendFailed } from '../../../../src/platform/egress/send-failed.ts';
import { base64, entryV1, entryV2, PAYEE, TERMS, USDC } from '../../../support/challenges.ts';
import {
  fakeAnswer,
  type ScriptedAnswer,
  scriptedClient,
} from '../../../support/fakes/scripted-client.ts';

const STAYS = new AbortController().signal;

function checkOf(script: Parameters<typeof scriptedClient>[0]) {
  const { client, sent } = scriptedClient(script);
  const probe = createProbe({ client, terms: TERMS, atOnce: 1 });
  const check = createTargetCheck({ client, probe, terms: TERMS });
  return { sent, ask: () => check('https://vendor.example/paid', '192.0.2.0', STAYS) };
}

const answered = (answer: ScriptedAnswer) => checkOf({ send: () => fakeAnswer(answer) }).ask();
const thrown = (error: Error) => () => {
  throw error;
};

const demanding = (document: object) => ({
  status: 402,
  headers: [['payment-required', base64(document)]] as const,
});

describe('what any caller may know of a target', () => {
  it('the check of a target returns its cheapest offer in the vendor’s spelling', async () => {
    const accepts = [entryV2({ amount: '20' }), entryV2({ amount: '7', maxTimeoutSeconds: 60 })];
    const resource = { url: 'https://vendor.example/paid', description: 'one fact' };
    expect(await answered(demanding({ x402Version: 2, accepts, resource }))).toEqual({
      x402: true,
      status: 402,
      x402Version: 2,
      payment: {
        amount: '7',
        asset: USDC,
        payTo: PAYEE,
        network: 'eip155:8453',
        scheme: 'exact',
        maxTimeoutSeconds: 60,
        description: 'one fact',
      },
    });
  });

  it('the check of a target names the same network for both x402 versions, and null for what the vendor leaves out', async () => {
    const body = JSON.stringify({ x402Version: 1, accepts: [entryV1()] });
    expect(await answered({ status: 402, body })).toMatchObject({
      x402Version: 1,
      payment: { network: 'eip155:8453', description: 'paid thing' },
    });
    const silent = entryV2({ maxTimeoutSeconds: undefined });
    expect(await answered(demanding({ x402Version: 2, accepts: [silent] }))).toMatchObject({
      payment: { maxTimeoutSeconds: null, description: null },
    });
  });

  it('the check of a target shortens the vendor’s description', async () => {
    const resource = { description: 'x'.repeat(10_000) };
    const told = await answered(demanding({ x402Version: 2, accepts: [entryV2()], resource }));
    expect(JSON.stringify(told).length).toBeLessThan(1_000);
  });

  it('the check of a target says that no payment is needed for any answer without an x402 demand', async () => {
    for (const status of [200, 301, 404, 500]) {
      expect(await answered({ status })).toEqual({
        x402: false,
        status,
        message: expect.stringContaining(String(status)),
      });
    }
    // A 402 of another kind is no demand of this protocol, and none that could not be read.
    expect(await answered({ status: 402, body: 'Pay!' })).toMatchObject({
      x402: false,
      status: 402,
    });
  });

  it('the check of a target fails with 502 and a code when the demand cannot be read', async () => {
    const refused = (code: string) =>
      expect.objectContaining({ status: 502, fields: expect.objectContaining({ code }) });
    const header = (value: string) =>
      answered({ status: 402, headers: [['payment-required', value]] });
    await expect(header('?')).rejects.toEqual(refused('invalid_base64'));
    await expect(header(base64('{'))).rejects.toEqual(refused('invalid_json'));
    await expect(header(base64({ x402Version: 2, accepts: [] }))).rejects.toEqual(
      refused('no_compatible_requirement'),
    );
  });

  it('the check of a target refuses a blocked destination and never shows a resolved address', async () => {
    const blocked = checkOf({
      open: thrown(new BlockedDestination('the host name is a local one')),
    });
    await expect(blocked.ask()).rejects.toMatchObject({
      status: 400,
      error: 'blocked_destination',
    });
    expect(blocked.sent).toEqual([]);
    const away = { status: 502, error: 'Failed to reach target URL' };
    await expect(checkOf({ open: thrown(new Unreachable('no')) }).ask()).rejects.toMatchObject(
      away,
    );
    const cause = new Error('connect ECONNREFUSED 10.0.0.1:80');
    const broken = new SendFailed('unreachable', { beforeBytes: true, cause });
    const refusal = await checkOf({ send: thrown(broken) })
      .ask()
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject(away);
    expect(JSON.stringify(refusal)).not.toContain('10.0.0.1');
  });
});
