import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';
import { pdfOf } from '../../support/pdf.ts';
import { type DocumentPeer, startDocumentPeer } from '../../support/vendors/document-peer.ts';
import {
  MARKET,
  type MarketWorld,
  type Shopper,
  startMarketWorld,
} from '../../support/vendors/market-world.ts';
import { KEY } from '../../support/vendors/vendor-peer.ts';
import { settledMoney, type Told } from '../../support/whole-world.ts';

let peer: DocumentPeer;
let market: MarketWorld;
let files: Awaited<ReturnType<typeof listenOnLoopback>>;
beforeAll(async () => {
  peer = await startDocumentPeer();
  files = await listenOnLoopback(
    createServer((request, response) => {
      if (request.url !== '/v1/three.pdf') response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'application/pdf' }).end(pdfOf(3));
    }),
  );
  market = await startMarketWorld(
    {},
    {
      secret: (name) =>
        name === 'VENDOR_SARVAM_BASE_URL'
          ? peer.baseUrl
          : name === 'SARVAM_API_KEY'
            ? KEY
            : undefined,
    },
  );
});
afterAll(async () => {
  await market[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
  await peer[Symbol.asyncDispose]();
});

const PATH = '/v1/doc/sarvam';
const inline = { documentBase64: pdfOf(3).toString('base64') };

type Result = Record<string, unknown>;
const resultOf = ({ body }: Told) => body.result as Result;

/** Looks at a job until it has ended. */
async function ended(look: () => Promise<Told>): Promise<Result> {
  for (let looks = 0; looks < 200; looks++) {
    const told = await look();
    expect([told.status, told.headers.get('x-svc-cost-usdc')]).toEqual([200, '0']);
    if (['completed', 'failed'].includes(String(resultOf(told).status))) return resultOf(told);
    await market.world.sql`update marketplace_jobs set due_at = now() where ended_at is null`;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the job lives on');
}

async function expectPaid(agent: Shopper) {
  const money = await settledMoney(market.world.sql, agent.agentId);
  expect(money).toMatchObject({ spendable: 1_000_000n - 18_976n, charged: 18_976n, held: 0n });
  const history = await agent.ask('/v1/agents/transactions');
  expect(JSON.stringify(history.body)).toContain('"costRaw":"18976"');
}

describe('a job', () => {
  it('a document job is created and read through the proxy', async () => {
    const agent = await market.shopper('by the proxy');
    const told = await agent.buy(PATH, { documentUrl: `${files.baseUrl}/three.pdf` });
    expect([told.status, told.headers.get('x-svc-payment')]).toEqual([202, 'passthrough']);
    const { jobId, statusUrl } = resultOf(told);
    expect(statusUrl).toBe(`${MARKET}${PATH}/${jobId}`);
    const done = await ended(() => agent.buy(`${PATH}/${jobId}`, undefined, { method: 'GET' }));
    expect(done).toMatchObject({ status: 'completed', costRaw: '18976' });
    expect(done.text).toContain('A document');
    await expectPaid(agent);
    const other = await market.shopper('another');
    const hidden = await other.buy(`${PATH}/${jobId}`, undefined, { method: 'GET' });
    expect([hidden.status, hidden.body.error]).toEqual([404, 'not_found']);
  });

  it('a document job is created and read directly, once under an Idempotency-Key', async () => {
    const agent = await market.shopper('directly');
    const headers = { 'idempotency-key': 'a document' };
    const before = peer.jobs.length;
    const told = await agent.ask(PATH, { body: inline, headers });
    const again = await agent.ask(PATH, { body: inline, headers });
    expect([told.status, again.status]).toEqual([202, 202]);
    expect(again.body).toEqual(told.body);
    expect(peer.jobs).toHaveLength(before + 1);
    const { jobId } = resultOf(told);
    expect(told.headers.get('location')).toBe(`${PATH}/${jobId}`);
    const done = await ended(() => agent.ask(`${PATH}/${jobId}`));
    expect(done).toMatchObject({ status: 'completed', costRaw: '18976' });
    await expectPaid(agent);
  });

  it.each([
    ['of another vendor', '/v1/doc/deepgram', inline, 'POST', 404],
    ['that is nowhere', `${PATH}/a/b`, undefined, 'GET', 404],
    ['by another verb', `${PATH}/job_1`, inline, 'POST', 405],
    ['at a port that is not asked', PATH, { documentUrl: 'http://127.0.0.1:9/a.pdf' }, 'POST', 400],
    ['inside the network', PATH, { documentUrl: 'http://10.0.0.1/a.pdf' }, 'POST', 400],
    ['that is no JSON', PATH, 'a text', 'POST', 400],
  ] as const)('a document job request %s is refused', async (_, path, body, method, status) => {
    const agent = await market.shopper('refused');
    const told = await agent.buy(path, body, { method });
    expect(told.status).toBe(status);
    const money = await settledMoney(market.world.sql, agent.agentId);
    expect(money).toMatchObject({ spendable: 1_000_000n, held: 0n });
  });

  it('a document job is refused with 413 when its document is larger than a request may be', async () => {
    const agent = await market.shopper('large');
    const large = Buffer.concat([pdfOf(3), Buffer.alloc(3 * 1024 * 1024, 32)]).toString('base64');
    expect((await agent.buy(PATH, { documentBase64: large })).status).toBe(202);
    const larger = 'A'.repeat(7 * 1024 * 1024);
    expect((await agent.ask(PATH, { body: { documentBase64: larger } })).status).toBe(413);
  });

  it('a document job is refused beyond the caps of its agent', async () => {
    const agent = await market.shopper('capped');
    await agent.ask('/v1/agents/policies', {
      body: { kind: 'api', matchKey: 'market.example', limitRaw: '63253' },
    });
    expect((await agent.buy(PATH, inline)).status).toBe(402);
    expect((await settledMoney(market.world.sql, agent.agentId)).held).toBe(0n);
  });
});
