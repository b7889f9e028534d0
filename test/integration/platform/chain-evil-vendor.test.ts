import { request } from 'undici';
import { type Hex, numberToHex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { account, type Chain, startChain } from '../../support/chain/chain.ts';
import type { EvilAnswer } from '../../support/chain/evil-answer.ts';
import { type ChallengeShape, offerOf } from '../../support/chain/evil-challenge.ts';
import {
  BATTERY,
  type EvilVendor,
  type Leg,
  type Script,
  startEvilVendor,
} from '../../support/chain/evil-vendor.ts';
import { ask, challengeIn, fromBase64, payFirstOffer } from '../../support/chain/hand-payer.ts';

const wallet = account(3);

let chain: Chain;
let vendor: EvilVendor;
beforeAll(async () => {
  chain = await startChain();
  vendor = await startEvilVendor(chain);
  await chain.fundUsdc(wallet.address, 1_000_000_000n);
});
afterAll(async () => {
  await vendor[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});

let nonces = 0;

async function prepared(script: Script) {
  const url = vendor.sell(script);
  const { timestamp } = await chain.head();
  const times = {
    validBefore: BigInt(timestamp + 90),
    nonce: numberToHex(++nonces, { size: 32 }),
  };
  const challenge = challengeIn(await ask(url));
  return { url, ...(await payFirstOffer(challenge, wallet, times)) };
}

const used = (nonce: Hex) => chain.authorizationState(wallet.address, nonce);

/** Answers what became of the paid request and of the money. */
async function buy(paid: Script['paid'], version: 1 | 2 = 2) {
  const unpaid: Leg = { answer: { kind: 'challenge', version } };
  const { url, headers, transfer } = await prepared({ unpaid, ...(paid ? { paid } : {}) });
  const answer = await ask(url, headers);
  return { ...answer, url, nonce: transfer.nonce, moved: await used(transfer.nonce) };
}

describe('the challenge of the scripted vendor', () => {
  const shown = async (shape: ChallengeShape) =>
    ask(vendor.sell({ unpaid: { answer: { kind: 'challenge', ...shape } } }));

  it('the scripted vendor sends its challenge in every form of both x402 versions', async () => {
    const v2 = await shown({});
    expect(v2.status).toBe(402);
    expect(challengeIn(v2).accepts[0]).toEqual(expect.objectContaining({ amount: '10000' }));
    const v1 = await shown({ version: 1, amount: '7' });
    expect(v1.headers['payment-required']).toBeUndefined();
    expect(JSON.parse(v1.body).accepts[0].maxAmountRequired).toBe('7');
    const decoded = async (form: 'header' | 'array' | 'envelope') =>
      fromBase64(String((await shown({ version: 1, form })).headers['payment-required']));
    expect(await decoded('header')).toEqual(expect.objectContaining({ network: 'base' }));
    expect(await decoded('array')).toHaveLength(1);
    expect(await decoded('envelope')).toEqual(expect.objectContaining({ x402Version: 1 }));
  });

  it('the scripted vendor sends any challenge that its script has, each time it is requested', async () => {
    const place = { url: 'http://x.invalid', payTo: wallet.address, priceRaw: 1n };
    const told = await shown({
      offer: { network: 'eip155:1' },
      offersBefore: [offerOf(2, place)],
      offersAfter: ['junk'],
      status: 200,
    });
    expect(told.status).toBe(200);
    const { accepts } = challengeIn(told);
    expect(accepts.map((each) => each.network)).toEqual(['eip155:8453', 'eip155:1', undefined]);
    const raw = await shown({ headerText: '%%%', headerCopies: ['two'], body: 'text' });
    expect([raw.headers['payment-required'], raw.body]).toEqual([['%%%', 'two'], 'text']);
    const large = await request(
      vendor.sell({
        unpaid: { answer: { kind: 'challenge', headers: [['x-pad', 'a'.repeat(65_536)]] } },
      }),
    ).catch((error: Error) => error.message);
    expect(large).toBe('Headers Overflow Error');
  });
});

describe('the money of the scripted vendor', () => {
  it.each([1, 2] as const)(
    'the scripted vendor is paid like an honest vendor in x402 version %i',
    async (version) => {
      const bought = await buy(undefined, version);
      expect([bought.status, bought.moved]).toEqual([200, true]);
      const name = version === 1 ? 'x-payment-response' : 'payment-response';
      expect(fromBase64(String(bought.headers[name]))).toEqual({
        success: true,
        transaction: vendor.settlements.at(-1)?.hash,
        network: version === 1 ? 'base' : 'eip155:8453',
        payer: wallet.address,
      });
      expect(vendor.nonces(bought.url)).toEqual([bought.nonce]);
    },
  );

  it('the scripted vendor moves money in each way that a paid call can end', async () => {
    const ends: Record<string, { status: number | undefined; moved: boolean }> = {};
    for (const [name, stage] of Object.entries(BATTERY)) {
      const { url, headers, transfer } = await prepared({ paid: stage });
      if (name === 'slow') setTimeout(() => vendor.release(url), 50);
      const answer = await request(url, { headers, headersTimeout: 1_000 }).catch(() => undefined);
      await answer?.body.dump();
      ends[name] = { status: answer?.statusCode, moved: await used(transfer.nonce) };
      await vendor.settleHeld(url);
      expect(await used(transfer.nonce)).toBe(name !== 'double402');
    }
    expect(ends).toEqual({
      clean: { status: 200, moved: true },
      timeout: { status: undefined, moved: true },
      broken: { status: 500, moved: true },
      double402: { status: 402, moved: false },
      slow: { status: 200, moved: true },
      late: { status: 402, moved: false },
      frontRun: { status: 402, moved: true },
    });
    expect(vendor.settlements.map(({ by }) => by)).toContain('thief');
  });

  it('the scripted vendor can send a receipt that does not match the chain', async () => {
    const receipt = { success: true, transaction: `0x${'ab'.repeat(32)}` };
    const lied = await buy({ settle: 'never', answer: { kind: 'answer', receipt } });
    expect([lied.status, lied.moved]).toEqual([200, false]);
    const shown = fromBase64(String(lied.headers['payment-response']));
    expect(shown).toEqual(expect.objectContaining(receipt));
    const silent = await buy({ settle: 'first', answer: { kind: 'answer', receipt: 'none' } });
    expect([silent.headers['payment-response'], silent.moved]).toEqual([undefined, true]);
  });

  it('the scripted vendor follows its steps in order when the same payment header comes again', async () => {
    const raised: Leg = { settle: 'never', answer: { kind: 'challenge', amount: '99999' } };
    const { url, headers, transfer } = await prepared({ paid: [raised, BATTERY.clean] });
    const again = await ask(url, headers);
    expect([again.status, challengeIn(again).accepts[0].amount]).toEqual([402, '99999']);
    expect((await ask(url, headers)).status).toBe(200);
    expect(vendor.nonces(url)).toEqual([transfer.nonce]);
    // What is used cannot be settled again, and the vendor has no receipt to show.
    expect((await ask(url, headers)).headers['payment-response']).toBeUndefined();
    expect(vendor.settlements.slice(-2).map(({ moved }) => moved)).toEqual([true, false]);
  });

  it('the scripted vendor moves money after the connection is closed', async () => {
    const { url, headers, transfer } = await prepared({
      paid: { settle: 'after', answer: { kind: 'drop', after: 'request' } },
    });
    await expect(ask(url, headers)).rejects.toThrow();
    await expect.poll(() => used(transfer.nonce)).toBe(true);
  });
});

describe('the answers of the scripted vendor', () => {
  const answering = (answer: EvilAnswer) => request(vendor.sell({ unpaid: { answer } }));

  it('the scripted vendor redirects, repeats header names and sends unusual parts', async () => {
    const target = `${vendor.origin}/elsewhere`;
    const moved = await answering({ kind: 'redirect', location: target, status: 307 });
    expect([moved.statusCode, moved.headers.location]).toEqual([307, target]);
    const headers = [
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ] as const;
    const cookies = await answering({ kind: 'answer', headers });
    expect(cookies.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect((await answering({ kind: 'hints', count: 3 })).statusCode).toBe(200);
    const trailing = await answering({ kind: 'trailers', trailers: { 'x-late': 'yes' } });
    await trailing.body.text();
    expect(trailing.trailers).toEqual({ 'x-late': 'yes' });
    const raw = await answering({
      kind: 'raw',
      text: 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi',
    });
    expect(await raw.body.text()).toBe('hi');
  });

  it('the scripted vendor sends endless answers, and answers far larger than their encoded size', async () => {
    const endless = await answering({ kind: 'endless' });
    let read = 0;
    for await (const part of endless.body) {
      read += (part as Buffer).length;
      if (read > 1_000_000) break;
    }
    expect(read).toBeGreaterThan(1_000_000);
    const bomb = await answering({ kind: 'bomb', megabytes: 100 });
    expect(bomb.headers['content-encoding']).toBe('gzip');
    expect((await bomb.body.arrayBuffer()).byteLength).toBeLessThan(200_000);
    const dripping = await answering({ kind: 'drip', part: 'body', everyMs: 5 });
    const first = await dripping.body[Symbol.asyncIterator]().next();
    expect(String(first.value)).toMatch(/^ +$/);
    dripping.body.destroy();
    const url = vendor.sell({
      unpaid: { answer: { kind: 'drip', part: 'head', everyMs: 5 } },
    });
    await expect(request(url, { signal: AbortSignal.timeout(100) })).rejects.toThrow('timeout');
  });

  it('the scripted vendor breaks an answer off where its script says so', async () => {
    for (const after of ['request', 'head', 'half-body'] as const) {
      const read = answering({ kind: 'drop', after }).then(({ body }) => body.text());
      await expect(read).rejects.toThrow(/closed|terminated|aborted/);
    }
  });

  it('the scripted vendor records every request, with its header as it was on the wire', async () => {
    const url = vendor.sell();
    await request(`${url}?q=1`, { method: 'POST', headers: { 'X-Odd': 'é' }, body: 'hello' });
    await request(`${vendor.origin}/other`, { headers: { 'x-payment': 'junk' } });
    const [seen] = vendor.seen(url);
    expect(seen).toEqual(expect.objectContaining({ method: 'POST', payment: undefined }));
    expect(seen?.rawHeaders).toContain('X-Odd');
    expect(String(seen?.body)).toBe('hello');
    expect(vendor.seen(`${vendor.origin}/other`)[0]?.payment).toBe('unreadable');
  });
});
