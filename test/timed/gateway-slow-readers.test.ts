import { type IncomingMessage, request } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeEach, describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../src/models/limits.ts';
import { AGENT_KEY } from '../support/gateway-world.ts';
import { textEvent } from '../support/stream-upstream.ts';
import { type StreamWorld, streamWorld } from '../support/stream-world.ts';

const MEGABYTE = 1024 * 1024;
/** What waits for its reader, and the event that is not whole yet. */
const MOST_BEHIND = MODEL_LIMITS.upstream.streamQueueBytes + MODEL_LIMITS.upstream.sseEventBytes;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What buffers take that are still referenced. */
function bufferedBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

let charged: StreamWorld['charged'];
let gateway: StreamWorld['gateway'];
let upstream: StreamWorld['upstream'];
beforeEach(async () => {
  const world = await streamWorld();
  ({ charged, gateway, upstream } = world);
  return () => world[Symbol.asyncDispose]();
});

/** An answer that is not read on until it is asked for. */
function open(): Promise<IncomingMessage> {
  const messages = [{ role: 'user', content: 'Go on.' }];
  return new Promise((resolve, reject) => {
    const sent = request(`${gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${AGENT_KEY}` },
      agent: false,
    });
    sent.once('response', resolve).once('error', reject);
    sent.end(JSON.stringify({ model: 'acme/fast-1', messages, stream: true }));
  });
}

async function costTold(answer: IncomingMessage): Promise<bigint> {
  let text = '';
  for await (const chunk of answer) text = (text + String(chunk)).slice(-2_000);
  expect(text).toContain('upstream_broke_off');
  return BigInt(/^: svc-cost-usdc=(\d+)$/m.exec(text)?.[1] ?? '-1');
}

describe('readers that fall behind a fast upstream', () => {
  it.for([
    ['a megabyte', 1_000_000, 64, 8],
    ['a page', 4_000, 10_000, 8],
    // So few readers that none stalls for as long as it takes to write all of these.
    ['a few bytes', 10, 100_000, 2],
  ] as const)(
    'slow readers of a fast upstream each keep bounded memory and pay for what was delivered, in events of %s',
    async ([, bytes, count, readers], { annotate }) => {
      const event = Buffer.from(textEvent('x'.repeat(bytes)));
      upstream.play({ pieces: Array.from({ length: count }, () => event) });
      const abandoned = upstream.abandoned.count;
      const before = bufferedBytes();
      const answers = await Promise.all(Array.from({ length: readers }, open));
      await expect
        .poll(() => upstream.abandoned.count, { timeout: 40_000 })
        .toBe(abandoned + readers);

      // The upstream of this test lives in the same process: what it has not given back yet goes within moments.
      let behind = 0;
      const measure = () => {
        behind = bufferedBytes() - before;
        return behind;
      };
      await expect.poll(measure, { timeout: 5_000 }).toBeLessThan(readers * MOST_BEHIND);
      await annotate(`${readers} readers, events of ${event.length} bytes: ${behind} bytes kept`);
      expect(behind).toBeGreaterThan((readers * MODEL_LIMITS.upstream.streamQueueBytes) / 2);

      const told = await Promise.all(answers.map(costTold));
      expect(told.every((costRaw) => costRaw > 0n)).toBe(true);
      expect(told.reduce((sum, costRaw) => sum + costRaw, 0n)).toBe(await charged());
      await expect.poll(() => bufferedBytes() - before).toBeLessThan(readers * MEGABYTE);
    },
  );
});
