import { expect, it } from 'vitest';
import { ApiError } from '../../../src/kernel/api-error.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { createDirectSales } from '../../../src/marketplace/direct-sales.ts';
import { createMarketAddress } from '../../../src/marketplace/market-address.ts';
import type { SaleRequest } from '../../../src/marketplace/vendor-sales.ts';
import type { PassthroughLine } from '../../../src/payments/proxy/passthrough-store.ts';
import { standingsReader, standingsWith } from '../../support/standings.ts';

it('a direct sale has a marketplace URL and a receipt, and refuses a hold with the gateway’s error', async () => {
  const calls: SaleRequest[] = [];
  const lines: PassthroughLine[] = [];
  const sales = createDirectSales({
    address: createMarketAddress(() => 'https://m.example/'),
    log: silentLog,
    passthroughs: { add: (line) => void lines.push(line), flush: async () => {} },
    ledger: { enforce: async (_, refusal) => refusal },
    spendState: standingsReader(standingsWith({})),
    documents: {
      submit: () => Promise.reject(new Error('no documents')),
      read: () => Promise.reject(new Error('no documents')),
    },
    shim: {
      priceOf: () => ({ kind: 'free' }),
      async serve(call) {
        calls.push(call);
        return {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: Buffer.from('{}'),
          costRaw: 3_150n,
          payment: 'internal',
          upstreamMs: 4,
          advisory: '{}',
        };
      },
    },
  });
  const reply = await sales.sell({
    service: 'tts',
    vendor: 'deepgram',
    body: { text: 'a' },
    workId: undefined,
    spender: { agentId: 3 },
    signal: new AbortController().signal,
  });
  expect(reply).toMatchObject({
    status: 200,
    upstreamMs: 4,
    headers: {
      'x-svc-cost-usdc': '3150',
      'x-svc-payment-amount': '0.003150',
      'x-svc-payment': 'internal',
      'x-svc-budget-advisory': '{}',
    },
  });
  expect(lines).toMatchObject([
    { targetUrl: 'https://m.example/v1/tts/deepgram', method: 'POST', chargedRaw: 3_150n },
  ]);
  const [call] = calls;
  expect(call).toMatchObject({ url: 'https://m.example/v1/tts/deepgram', host: 'm.example' });
  const refusal = call?.refusalOfHold({
    reason: 'insufficient_balance',
    availableRaw: 1n,
    requiredRaw: 2n,
  });
  expect(refusal).toBeInstanceOf(ApiError);
  expect(refusal).toMatchObject({ status: 402, error: 'budget_exhausted' });
});
