import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { AGENT_KEY, gatewayWorld } from '../../support/gateway-world.ts';
import { adtsFile } from '../../support/sound-files.ts';
import { jsonAnswer, transcriptionUpstream } from '../../support/transcription-upstream.ts';

const AGENT = 1;
const FUNDS = 1_000_000n;
/** 25 frames of 64 ms: 160 raw at the price of `cheap`. */
const SOUND = adtsFile(25);
const PRICE = 160n;

/** Something that waits until it is told. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Two vendors that bill an account of this server, one that bills the caller's, and a machine of the operator's own. */
async function world() {
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: FUNDS, reference: 'start' });
  const cheap = await transcriptionUpstream();
  const dear = await transcriptionUpstream();
  const own = await transcriptionUpstream();
  const provider = (baseUrl: string) => ({ baseUrl, dialect: 'openai' }) as const;
  const source = (
    rail: 'direct-account' | 'self-host',
    provider: string,
    audio_second: string,
  ) => ({ rail, provider, upstreamModel: 'ears-large', rates: { audio_second }, marginBps: 0 });
  const gateway = await gatewayWorld({
    ledger,
    providers: {
      cheap: provider(cheap.baseUrl),
      dear: provider(dear.baseUrl),
      own: provider(own.baseUrl),
    },
    models: [
      {
        id: 'acme/ears',
        modality: 'stt',
        sources: [
          source('direct-account', 'cheap', '100'),
          source('direct-account', 'dear', '200'),
        ],
      },
      { id: 'acme/home', modality: 'stt', sources: [source('self-host', 'own', '100')] },
    ],
  });
  const leaving = new AbortController();
  const post = (
    more: { readonly stream?: boolean; readonly key?: string; readonly model?: string } = {},
    signal: AbortSignal = leaving.signal,
  ) => {
    const form = new FormData();
    form.append('model', more.model ?? 'acme/ears');
    if (more.stream === true) form.append('stream', 'true');
    form.append('file', new File([SOUND], 'said.aac', { type: 'audio/aac' }));
    return fetch(`${gateway.baseUrl}/audio/transcriptions`, {
      method: 'POST',
      body: form,
      signal,
      headers: {
        authorization: `Bearer ${AGENT_KEY}`,
        ...(more.key && { 'idempotency-key': more.key }),
      },
    });
  };
  return {
    cheap,
    dear,
    own,
    gateway,
    ledger,
    post,
    /** Sends a request, and leaves when its vendor has it. */
    async postAndLeave(upstream = cheap, more: Parameters<typeof post>[0] = {}) {
      const before = upstream.seen.length;
      const left = post(more).catch((error: Error) => error.name);
      await expect.poll(() => upstream.seen.length).toBe(before + 1);
      leaving.abort();
      expect(await left).toBe('AbortError');
    },
    /** What was paid, once nothing is held. */
    async paid() {
      await expect.poll(() => ledger.openHolds()).toBe(0);
      const funds = await ledger.funds(AGENT);
      expect((funds?.spendableRaw ?? 0n) + ledger.consumedRaw(AGENT)).toBe(FUNDS);
      return ledger.consumedRaw(AGENT);
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      for (const upstream of [cheap, dear, own]) await upstream[Symbol.asyncDispose]();
    },
  };
}

describe('a client that leaves POST /v1/audio/transcriptions', () => {
  it('a client that leaves a transcription during its upload pays nothing', async () => {
    await using w = await world();
    const { hostname, port } = new URL(w.gateway.baseUrl);
    const socket = connect(Number(port), hostname);
    const head = [
      'POST /v1/audio/transcriptions HTTP/1.1',
      `host: ${hostname}`,
      `authorization: Bearer ${AGENT_KEY}`,
      'content-type: multipart/form-data; boundary=x',
      'content-length: 10000',
    ];
    await new Promise<void>((resolve) => {
      socket.write(`${head.join('\r\n')}\r\n\r\n--x\r\n`, () => resolve());
    });
    socket.destroy();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(await w.paid()).toBe(0n);
    expect(w.cheap.seen).toEqual([]);
    expect(w.ledger.charges).toEqual([]);
  });

  it('a client that leaves a transcription pays for the transcript that its vendor finishes', async () => {
    await using w = await world();
    const { opened, open } = gate();
    w.cheap.script.push({ ...jsonAnswer({ text: 'late' }), until: opened });
    await w.postAndLeave();
    expect(w.ledger.openHolds()).toBe(1);
    open();
    expect(await w.paid()).toBe(PRICE);
    expect(w.cheap.abandoned.count).toBe(0);
    expect(w.ledger.charges).toMatchObject([{ status: 'success', costRaw: PRICE }]);
  });

  it('a client that left a transcription gets the transcript by its Idempotency-Key, paid once', async () => {
    await using w = await world();
    const { opened, open } = gate();
    w.cheap.script.push({ ...jsonAnswer({ text: 'kept' }), until: opened });
    await w.postAndLeave(w.cheap, { key: 'k' });
    open();
    expect(await w.paid()).toBe(PRICE);
    const again = await w.post({ key: 'k' }, AbortSignal.timeout(5_000));
    expect(again.headers.get('x-svc-idempotent-replay')).toBe('true');
    expect(again.headers.get('x-svc-cost-usdc')).toBe(String(PRICE));
    expect(await again.json()).toEqual({ text: 'kept' });
    expect(await w.paid()).toBe(PRICE);
    expect(w.cheap.seen).toHaveLength(1);
  });

  it('a client that left a transcription pays nothing when its vendor fails, and no other vendor is called', async () => {
    await using w = await world();
    const { opened, open } = gate();
    w.cheap.script.push({ ...jsonAnswer({}, 503), until: opened });
    await w.postAndLeave();
    open();
    expect(await w.paid()).toBe(0n);
    expect(w.dear.seen).toEqual([]);
  });

  it('a client that leaves a streamed transcription before it begins pays for it', async () => {
    await using w = await world();
    const { opened, open } = gate();
    w.cheap.script.push({ ...jsonAnswer({ text: 'late' }), until: opened });
    await w.postAndLeave(w.cheap, { stream: true });
    open();
    expect(await w.paid()).toBe(PRICE);
  });

  it('a client that leaves a streamed transcription in the middle pays for the whole file', async () => {
    await using w = await world();
    const { opened, open } = gate();
    const body = 'data: {"type":"transcript.text.delta","delta":"as "}\n\n';
    w.cheap.script.push({ contentType: 'text/event-stream', body, endsAfter: opened });
    const leaving = new AbortController();
    const response = await w.post({ stream: true }, leaving.signal);
    await response.body?.getReader().read();
    leaving.abort();
    expect(await w.paid()).toBe(PRICE);
    await expect.poll(() => w.cheap.abandoned.count).toBe(1);
    open();
  });

  it('a client that leaves a transcription of an unbilled source stops it, and pays nothing', async () => {
    await using w = await world();
    const { opened, open } = gate();
    w.own.script.push({ ...jsonAnswer({ text: 'late' }), until: opened });
    await w.postAndLeave(w.own, { model: 'acme/home' });
    expect(await w.paid()).toBe(0n);
    await expect.poll(() => w.own.abandoned.count).toBe(1);
    open();
  });
});
