import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../../src/kernel/random.ts';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import { MessageQueue } from '../../../../../src/platform/messages/message-queue.ts';
import { createDeepgramListenRail } from '../../../../../src/protocols/deepgram/listen/listen-rail.ts';
import { createOpenAiRealtimeRail } from '../../../../../src/protocols/openai-realtime/openai-rail.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { type RealtimeUpstream, realtimeUpstream } from '../../../../support/realtime-upstream.ts';

let upstream: RealtimeUpstream;
beforeEach(async () => {
  upstream = await realtimeUpstream();
});
afterEach(() => upstream[Symbol.asyncDispose]());

const CONNECT_MS = 2_000;

/** One that greets, and one that does not. */
function rails() {
  const clock = new ManualClock();
  const { baseUrl } = upstream;
  const deps = {
    upstream: { baseUrl, apiKey: 'sk-1' },
    clock,
    line: new MessageQueue(clock),
    random: systemRandom,
    connectMs: CONNECT_MS,
  };
  const { signal } = new AbortController();
  const greeting = () => createOpenAiRealtimeRail(deps).connect({ agentId: 1, model: 'm' }, signal);
  const silent = () =>
    createDeepgramListenRail(deps).connect({ agentId: 1, model: 'm', options: [] }, signal);
  return { clock, greeting, silent };
}

/** Time goes on once the upgrade was answered. */
async function afterUpgrade(clock: ManualClock, ms: number) {
  await upstream.peer();
  for (let passed = 0; passed < 10; passed++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    clock.advance(ms / 10);
  }
}

type Connected = Awaited<ReturnType<ReturnType<typeof rails>['greeting']>>;

function listen(outcome: Connected) {
  if (outcome.kind !== 'completed') throw new Error(outcome.kind);
  const heard: unknown[] = [];
  outcome.socket.listen({
    frame: (bytes, isBinary) => heard.push(isBinary ? bytes : bytes.toString()),
    closed: (code) => heard.push(code),
  });
  return heard;
}

describe('the first sign of life of an upstream', () => {
  it('a realtime upstream is connected at its first frame, and the listener gets that frame and all later ones', async () => {
    upstream.greet = (peer) => {
      peer.ws.send('no JSON');
      peer.ws.send(Buffer.from([1, 2]));
      peer.ws.close(1011);
    };
    const { greeting } = rails();
    const heard = listen(await greeting());
    await expect.poll(() => heard).toEqual(['no JSON', Buffer.from([1, 2]), 1011]);
  });

  it.each([
    [
      'a close',
      (peer) => peer.ws.close(1000),
      { failure: 'broken', detail: 'closed 1000 at once' },
    ],
    ['a cut', (peer) => peer.ws.terminate(), { failure: 'broken', detail: 'closed 1006 at once' }],
    [
      'an error',
      (peer) => peer.say({ type: 'error', error: { message: 'no sk-1' } }),
      { failure: 'broken', detail: 'refused at once' },
    ],
  ] as [string, RealtimeUpstream['greet'], object][])(
    'a realtime upstream that begins with %s has failed, and the error text is not kept',
    async (_, greet, told) => {
      upstream.greet = greet;
      const { greeting, silent } = rails();
      expect(await greeting()).toMatchObject({ kind: 'failed', ...told });
      expect(await silent()).toMatchObject({ kind: 'failed', ...told });
      await Promise.all(upstream.peers.map(({ closed }) => closed));
    },
  );

  it('a realtime upstream whose protocol greets must send a frame within the connect timeout', async () => {
    upstream.greet = () => {};
    const { clock, greeting } = rails();
    const outcome = greeting();
    let isOver = false;
    void outcome.then(() => {
      isOver = true;
    });
    await afterUpgrade(clock, CONNECT_MS - 10);
    expect(isOver).toBe(false);
    clock.advance(10);
    expect(await outcome).toMatchObject({ kind: 'failed', failure: 'timeout' });
    await (await upstream.peer()).closed;
  });

  it('a realtime upstream without a greeting is connected after a moment, and no early frame is lost', async () => {
    upstream.greet = () => {};
    const { clock, silent } = rails();
    const outcome = silent();
    await afterUpgrade(clock, MODEL_LIMITS.link.listenOpeningMs);
    const connected = await outcome;
    const peer = await upstream.peer();
    peer.say({ n: 1 });
    peer.ws.close(1008);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const heard = listen(connected);
    await expect.poll(() => heard).toEqual(['{"n":1}', 1008]);
  });
});
