import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimTripwire } from '../../../src/marketplace/tripwires/tripwire-store.ts';
import {
  type MarketWorld,
  type Shopper,
  startMarketWorld,
} from '../../support/vendors/market-world.ts';

let market: MarketWorld;
beforeAll(async () => {
  market = await startMarketWorld();
});
afterAll(() => market[Symbol.asyncDispose]());

const TRIPWIRE = 'marketplace.tripwire.triggered';

/** What was told of an agent, in its order. */
const told = ({ agentId }: Shopper) =>
  market.world.sql<{ name: string; payload: Record<string, unknown> }[]>`
    select e.name, e.payload from events e join agents a on a.wallet_address = e.agent_wallet
    where a.id = ${agentId} and e.name like 'marketplace.%' order by e.id`;

const tripped = async (agent: Shopper) =>
  (await told(agent))
    .filter(({ name }) => name === TRIPWIRE)
    .map(({ payload: { vendor, tripwire, expected, observed } }) => [
      vendor,
      tripwire,
      expected,
      observed,
    ]);

describe('a tripwire', () => {
  it('a tripwire event reports seconds of audio that a vendor claims and the file does not have, with the sale', async () => {
    const agent = await market.shopper('heard too long');
    // The peers of both report what is not so.
    await agent.buy('/v1/stt/deepgram', { audioUrl: market.sound(1_000) });
    await agent.buy('/v1/stt/cartesia', { audioUrl: market.sound(1_000) });
    expect(await tripped(agent)).toEqual([
      ['deepgram', 'seconds', '1 seconds', '86400 seconds'],
      ['cartesia', 'seconds', '1 seconds', '9999 seconds'],
    ]);
    const names = (await told(agent)).map(({ name }) => name);
    expect(names.filter((name) => name === 'marketplace.payment.settled')).toHaveLength(2);
  });

  it('a tripwire event reports characters that a vendor claims and the text does not have', async () => {
    const agent = await market.shopper('spoke too much');
    await agent.buy('/v1/tts/minimax', { text: 'x'.repeat(100) });
    expect(await tripped(agent)).toEqual([
      ['minimax', 'characters', '100 characters', '1000000 characters'],
    ]);
  });

  it('a tripwire event reports a response of another content type, whether or not it is audio', async () => {
    const agent = await market.shopper('other kinds');
    market.peer.faults.push({ kind: 'says', said: { type: 'text/html', body: '<p>' } });
    expect((await agent.buy('/v1/tts/deepgram', { text: 'x' })).status).toBe(502);
    market.peer.faults.push({ kind: 'says', said: { type: 'audio/ogg', body: 'OggS and more' } });
    expect((await agent.buy('/v1/tts/rime', { text: 'x' })).status).toBe(200);
    expect(await tripped(agent)).toEqual([
      ['deepgram', 'content_type', 'audio/mpeg', 'text/html'],
      ['rime', 'content_type', 'audio/mpeg', 'audio/ogg'],
    ]);
  });

  it('no tripwire event is written for a vendor that behaves', async () => {
    const agent = await market.shopper('content');
    for (const vendor of ['deepgram', 'rime', 'google', 'elevenlabs', 'azure']) {
      expect((await agent.buy(`/v1/tts/${vendor}`, { text: 'x' })).status).toBe(200);
    }
    expect(await tripped(agent)).toEqual([]);
  });

  it('a tripwire event is written once an hour for each agent, whichever process finds it', async () => {
    const agent = await market.shopper('often');
    for (let sale = 0; sale < 3; sale++) {
      await agent.buy('/v1/stt/deepgram', { audioUrl: market.sound(1_000) });
    }
    expect(await tripped(agent)).toHaveLength(1);
    const { sql } = market.world;
    const of = { agentId: agent.agentId, vendor: 'deepgram', tripwire: 'seconds' };
    expect(await claimTripwire(sql, of)).toBe(false);
    await sql`update marketplace_tripwires set triggered_at = triggered_at - interval '1 hour'`;
    const claims = await Promise.all(Array.from({ length: 8 }, () => claimTripwire(sql, of)));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });
});
