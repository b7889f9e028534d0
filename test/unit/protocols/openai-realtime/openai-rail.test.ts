import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { MessageQueue } from '../../../../src/platform/messages/message-queue.ts';
import { createOpenAiRealtimeRail } from '../../../../src/protocols/openai-realtime/openai-rail.ts';
import { VOICE_LIMITS } from '../../../../src/voice/limits.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type RealtimeUpstream, realtimeUpstream } from '../../../support/realtime-upstream.ts';

let upstream: RealtimeUpstream;
beforeEach(async () => {
  upstream = await realtimeUpstream();
});
afterEach(() => upstream[Symbol.asyncDispose]());

function rail(apiKey: string | null = 'sk-1', query = '') {
  const clock = new ManualClock();
  const baseUrl = upstream.baseUrl + query;
  const opened = createOpenAiRealtimeRail({
    upstream: { baseUrl, apiKey },
    clock,
    line: new MessageQueue(clock),
    random: systemRandom,
    connectMs: 2_000,
  });
  const connect = (ownKey?: string, signal = new AbortController().signal) =>
    opened.connect({ agentId: 1, model: 'a b', ownKey }, signal);
  return { clock, opened, connect };
}

async function open({ connect }: Pick<ReturnType<typeof rail>, 'connect'>) {
  const outcome = await connect();
  if (outcome.kind !== 'completed') throw new Error(outcome.kind);
  const heard: string[] = [];
  const { socket } = outcome;
  const closed = new Promise<number>((resolve) => {
    socket.listen({ frame: (bytes) => heard.push(bytes.toString()), closed: resolve });
  });
  return { socket, heard, closed };
}

describe('the way to an upstream of the realtime protocol', () => {
  it('a realtime connection keeps the query of its base URL, names the model and uses the key that pays', async () => {
    const { connect } = rail('sk-1', '?api-version=2');
    await connect();
    await connect('sk-own');
    const [first, second] = upstream.peers;
    expect(first?.path).toBe('/v1/realtime?api-version=2&model=a+b');
    expect(first?.headers.authorization).toBe('Bearer sk-1');
    expect(second?.headers.authorization).toBe('Bearer sk-own');
    await rail(null).connect();
    expect(upstream.peers[2]?.headers.authorization).toBeUndefined();
  });

  it('a realtime connection keeps the frames that arrive before a listener is set', async () => {
    upstream.greet = (peer) => {
      peer.say({ n: 1 });
      peer.say({ n: 2 });
    };
    const { heard } = await open(rail());
    await expect.poll(() => heard).toEqual(['{"n":1}', '{"n":2}']);
  });

  it.each([
    [500, { kind: 'failed', failure: 'broken', status: 500 }],
    [302, { kind: 'failed', failure: 'broken', status: 302 }],
    [429, { kind: 'failed', failure: 'rate_limited', retryAfterSeconds: 3 }],
    [403, { kind: 'declined', status: 403 }],
    [0, { kind: 'failed', failure: 'unreachable' }],
  ])(
    'a realtime connection that is answered with %s fails with the outcome of that status',
    async (status, outcome) => {
      upstream.refusals.push(status);
      expect(await rail().connect()).toMatchObject(outcome);
    },
  );

  it('a realtime connection attempt is aborted with its caller', async () => {
    upstream.refusals.push(-1);
    const caller = new AbortController();
    const outcome = rail().connect(undefined, caller.signal);
    await expect.poll(() => upstream.asked.count).toBe(1);
    caller.abort();
    expect(await outcome).toEqual({ kind: 'aborted' });
    expect(await rail().connect(undefined, caller.signal)).toEqual({ kind: 'aborted' });
  });

  it('a realtime connection is cut when the upstream answers no ping, and kept when it does', async () => {
    const world = rail();
    const { closed, socket } = await open(world);
    const peer = await upstream.peer();
    const pinged = new Promise<void>((resolve) => peer.ws.once('ping', () => resolve()));
    world.clock.advance(MODEL_LIMITS.link.pingMs);
    await pinged;
    // Reads nothing, and so answers nothing, from here on.
    peer.ws.pause();
    socket.pause();
    world.clock.advance(MODEL_LIMITS.link.pingMs);
    socket.resume();
    world.clock.advance(2 * MODEL_LIMITS.link.pingMs);
    expect(await closed).toBe(1006);
  });

  it('a realtime connection is cut when the upstream ignores a close frame, and on disposal', async () => {
    const world = rail();
    const { socket } = await open(world);
    const peer = await upstream.peer();
    peer.ws.pause();
    socket.close();
    world.clock.advance(MODEL_LIMITS.link.closeMs);
    peer.ws.resume();
    await peer.closed;
    const other = await open(world);
    await world.opened[Symbol.asyncDispose]();
    expect(await other.closed).toBe(1006);
  });

  it('a realtime connection is closed with 1009 at a frame above the size limit', async () => {
    const { closed } = await open(rail());
    const peer = await upstream.peer();
    peer.ws.send('x'.repeat(VOICE_LIMITS.relay.frameBytes + 1));
    expect([(await peer.closed).code, await closed]).toEqual([1009, 1009]);
  });
});
