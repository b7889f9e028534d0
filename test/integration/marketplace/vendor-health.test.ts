import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { createMarketAddress } from '../../../src/marketplace/market-address.ts';
import { openAccounts } from '../../../src/marketplace/open-accounts.ts';
import { createVendorHealths } from '../../../src/marketplace/vendor-health.ts';
import {
  claimProbe,
  findHealth,
  findSales,
  noteSales,
  saveProbe,
} from '../../../src/marketplace/vendor-health-store.ts';
import { assemblyai } from '../../../src/marketplace/vendors/assemblyai.ts';
import { deepgram } from '../../../src/marketplace/vendors/deepgram.ts';
import { polly } from '../../../src/marketplace/vendors/polly.ts';
import { createFetch } from '../../../src/platform/egress/fetch.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { startMarketWorld } from '../../support/vendors/market-world.ts';
import { startVendorPeer, type VendorPeer } from '../../support/vendors/vendor-peer.ts';
import { ask } from '../../support/whole-world.ts';

let db: TestDatabase;
let peer: VendorPeer;
const outbound = createFetch();
beforeAll(async () => {
  db = await testDatabase();
  peer = await startVendorPeer();
});
afterAll(async () => {
  await outbound.close();
  await peer[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

const VENDORS = [deepgram, assemblyai];

/** A process of the server. */
const aProcess = (probes = true) =>
  createVendorHealths({
    probes,
    fetch: outbound.fetch,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    vendors: [...VENDORS, polly],
    vendorMs: 5_000,
    address: createMarketAddress(() => 'https://m.example'),
    // It has no account with the third.
    accounts: openAccounts(VENDORS, peer.secret),
    claim: (vendors) => claimProbe(db.sql, vendors),
    save: (probed, event) => saveProbe(db.sql, probed, event),
    find: () => findHealth(db.sql),
    findSales: () => findSales(db.sql),
  });

/** So much later, as far as claims go. */
const later = () =>
  db.sql`update marketplace_vendors set checked_at = checked_at - interval '1 day'`;

const events = () => db.sql<{ name: string; account_id: null; payload: Record<string, string> }[]>`
  select name, account_id, payload from events where name like 'marketplace.vendor.%' order by id`;

describe('the vendors of the marketplace', () => {
  it('vendor probes run in turn, each once over all processes until it is due again', async () => {
    const [one, other] = [aProcess(), aProcess()];
    await Promise.all([
      one.worker?.tick(),
      other.worker?.tick(),
      one.worker?.tick(),
      other.worker?.tick(),
    ]);
    const asked = peer.heard.filter(({ url }) => /speak|upload/.test(url.pathname));
    expect(asked.map(({ vendor }) => vendor).sort()).toEqual(['assemblyai', 'deepgram']);
    const { now, probes, vendors } = await other.list();
    expect(probes).toBe(true);
    expect(Date.parse(now)).toBeGreaterThan(0);
    expect(vendors).toEqual([
      {
        vendor: 'assemblyai',
        name: 'AssemblyAI',
        method: 'POST',
        status: 'ok',
        endpoint: 'https://m.example/v1/stt/assemblyai',
        priceUsdc: '0.000062',
        costRaw: '62',
        responseExcerpt: expect.stringMatching(/^"heard /),
        latencyMs: expect.any(Number),
        checkedAt: expect.any(String),
      },
      {
        vendor: 'deepgram',
        name: 'Deepgram',
        method: 'POST',
        status: 'ok',
        endpoint: 'https://m.example/v1/tts/deepgram',
        priceUsdc: '0.000189',
        costRaw: '189',
        responseExcerpt: 'audio/mpeg, 10 bytes',
        latencyMs: expect.any(Number),
        checkedAt: expect.any(String),
      },
    ]);
    expect(await events()).toEqual([]);
  });

  it('a vendor is down after two failures in a row and up at the first success, each reported once', async () => {
    const { list, worker } = aProcess();
    /** Both are tried, and the first of them in this way. */
    const round = async (...faults: VendorPeer['faults']) => {
      await later();
      await db.sql`update marketplace_vendors set checked_at = now() where vendor = 'assemblyai'`;
      peer.faults.push(...faults);
      await worker?.tick();
      return (await list()).vendors.find(({ vendor }) => vendor === 'deepgram')?.status;
    };
    const down = { kind: 'status', status: 500 } as const;
    expect(await round(down)).toBe('ok');
    expect(await round({ kind: 'status', status: 429 })).toBe('ok');
    expect(await events()).toEqual([]);
    expect(await round(down)).toBe('down');
    expect(await round(down)).toBe('down');
    expect(await round()).toBe('ok');
    expect(await round()).toBe('ok');
    const told = await events();
    expect(told.map(({ name }) => name)).toEqual([
      'marketplace.vendor.degraded',
      'marketplace.vendor.recovered',
    ]);
    for (const { account_id, payload } of told) {
      expect(account_id).toBeNull();
      expect(payload).toEqual({
        vendor: 'deepgram',
        endpoint: 'https://m.example/v1/tts/deepgram',
        checkedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      });
    }
  });

  it('the health of the vendors is listed for developers', async () => {
    await using market = await startMarketWorld();
    const { developerKey, key } = await market.shopper('looking');
    const url = `${market.world.url}/v1/playground/vendors`;
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    const told = await ask(url, bearer(developerKey));
    expect([told.status, told.body]).toEqual([
      200,
      { now: expect.any(String), probes: true, vendors: [] },
    ]);
    expect((await ask(url, bearer(key))).status).toBe(401);
  });

  describe('without trials', () => {
    const sold = (vendor: string, failures: number, delivered: boolean) =>
      noteSales(db.sql, [{ vendor, latency: 7, failures, delivered }]);
    const listed = async () => {
      const { probes, vendors } = await aProcess(false).list();
      expect(probes).toBe(false);
      return Object.fromEntries(
        vendors.map(({ vendor, ...seen }) => [
          vendor,
          [seen.status, seen.latencyMs, seen.responseExcerpt],
        ]),
      );
    };

    it('without probes, a vendor’s health comes from its sales, and is unknown after a day without sales', async () => {
      expect(aProcess(false).worker).toBeUndefined();
      // What trials said before is not shown.
      expect(await listed()).toEqual({
        assemblyai: ['unknown', null, null],
        deepgram: ['unknown', null, null],
      });
      await sold('deepgram', 0, true);
      await sold('assemblyai', 1, false);
      expect(await listed()).toEqual({ assemblyai: ['ok', 7, null], deepgram: ['ok', 7, null] });
      // The second failure in a row, of another process.
      await sold('assemblyai', 1, false);
      expect(await listed()).toMatchObject({ assemblyai: ['down', 7, null] });
      await sold('assemblyai', 1, true);
      expect(await listed()).toMatchObject({ assemblyai: ['ok', 7, null] });
      await db.sql`update marketplace_vendors set sold_at = sold_at - interval '25 hours'`;
      expect(await listed()).toMatchObject({ deepgram: ['unknown', null, null] });
    });

    it('without probes, no vendor is called, and the health list shows the results of agents’ calls', async () => {
      await using market = await startMarketWorld({ MARKETPLACE_PROBES: 'off' });
      const agent = await market.shopper('buying');
      await agent.buy('/v1/tts/rime', { text: 'Hello.' });
      const asked = market.peer.heard.length;
      await noteSales(market.world.sql, [
        { vendor: 'rime', latency: 3, failures: 0, delivered: true },
      ]);
      const url = `${market.world.url}/v1/playground/vendors`;
      const headers = { authorization: `Bearer ${agent.developerKey}` };
      const { body } = await ask(url, { headers });
      const vendors = body.vendors as Record<string, unknown>[];
      const of = (name: string) => vendors.find(({ vendor }) => vendor === name);
      expect([body.probes, vendors.length]).toEqual([false, 14]);
      expect(of('rime')).toMatchObject({ status: 'ok', latencyMs: 3, responseExcerpt: null });
      expect(of('polly')).toMatchObject({ status: 'unknown', latencyMs: null, checkedAt: null });
      expect(market.peer.heard).toHaveLength(asked);
    });
  });
});
