import { describe, expect, it } from 'vitest';
import { MESSAGE_LIMITS } from '../../../../src/platform/messages/limits.ts';
import type { MessageSource } from '../../../../src/platform/messages/message-lane.ts';
import { MessageQueue } from '../../../../src/platform/messages/message-queue.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const { all, owner: ofOwner } = MESSAGE_LIMITS.waiting;

function world() {
  const clock = new ManualClock();
  const line = new MessageQueue(clock);
  const done: string[] = [];
  const use = (ms: number) => {
    const startedMs = clock.monotonicMs();
    clock.advance(ms);
    line.used(startedMs, clock.monotonicMs());
  };
  /** A socket of an owner, each of whose messages takes `ms`. */
  function source(owner: number | object, ms: number) {
    const joined = {
      owner,
      isRead: true,
      waited(bytes: Uint8Array) {
        done.push(`${Buffer.from(bytes)}`);
        use(ms);
      },
      holdBack() {
        joined.isRead = false;
      },
      letGo() {
        joined.isRead = true;
      },
      say: (text: string) => line.wait(joined, Buffer.from(text), false),
    } satisfies MessageSource & Record<string, unknown>;
    line.join(joined);
    return joined;
  }
  return { clock, line, done, use, source, hasTime: () => line.hasTime(clock.monotonicMs()) };
}

describe('the messages of all sockets', () => {
  it('socket messages are handled at once while they take little time, and in order over turns otherwise', async () => {
    const { clock, done, hasTime, source, use } = world();
    expect(hasTime()).toBe(true);
    use(MESSAGE_LIMITS.msPerTurn - 1);
    expect(hasTime()).toBe(true);
    use(1);
    expect(hasTime()).toBe(false);
    const socket = source(1, MESSAGE_LIMITS.msPerTurn / 2);
    for (let i = 0; i < 4; i++) socket.say(`${i}`);
    await turn();
    expect(done).toEqual(['0', '1']);
    expect(hasTime()).toBe(false);
    await turn();
    expect(done).toEqual(['0', '1', '2', '3']);
    // The library hands on what comes next in a turn of its own.
    expect(hasTime()).toBe(true);
    use(MESSAGE_LIMITS.msPerTurn);
    expect(hasTime()).toBe(false);
    clock.advance(1);
    expect(hasTime()).toBe(true);
  });

  it('socket messages have a full turn again after a pause of 1 ms, but not after 0.1 ms', () => {
    const line = new MessageQueue(new ManualClock());
    const step = MESSAGE_LIMITS.msPerTurn / 10;
    for (const [restMs, isHandled] of [
      [0.1, false],
      [1, true],
    ] as const) {
      let nowMs = 1_000;
      let isLast = true;
      for (let message = 0; message < 12; message++) {
        nowMs += restMs;
        isLast = line.hasTime(nowMs);
        if (isLast) line.used(nowMs, nowMs + step);
        nowMs += isLast ? step : 0;
      }
      expect(isLast, `${restMs} ms`).toBe(isHandled);
    }
  });

  it('queued socket messages are copies that no later message changes, even beyond the queue’s own memory', async () => {
    const { done, line, source } = world();
    const socket = source(1, 0);
    const sent: string[] = [];
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 40; i++) {
        const text = `${round}/${i} `.repeat(1 + ((i * 419) % 4_000));
        const message = new TextEncoder().encode(text);
        const kept = line.keep(message.buffer);
        message.fill(0);
        sent.push(text);
        line.wait(socket, kept, false);
      }
      await turn();
    }
    expect(done).toEqual(sent);
    expect(sent.slice(0, 40).join('').length).toBeGreaterThan(256 * 1_024);
  });
});

describe('the owners of sockets', () => {
  it('the owners of sockets take turns, so that an owner’s message does not wait for another owner’s backlog', async () => {
    const { done, source } = world();
    const [first, second, quiet] = [source(1, 0.1), source(1, 0.1), source(2, 0.1)];
    for (let i = 0; i < 20; i++) (i % 2 === 0 ? first : second).say(`flood ${i}`);
    quiet.say('quiet');
    await turn();
    expect(done.slice(0, 4)).toEqual(['flood 0', 'quiet', 'flood 1', 'flood 2']);
  });

  it('the owners of sockets get equal time and not equal numbers of messages', async () => {
    const { done, source } = world();
    const [slow, quick] = [source(1, 5), source(2, 0.05)];
    for (let i = 0; i < 40; i++) {
      slow.say('slow');
      quick.say('quick');
    }
    await turn();
    await turn();
    expect(done.filter((text) => text === 'slow')).toHaveLength(2);
    expect(done.filter((text) => text === 'quick').length).toBeGreaterThan(9);
  });
});

describe('sockets whose messages wait', () => {
  it('the sockets of an owner are not read beyond 2,048 queued messages, until half of them are handled', async () => {
    const { source } = world();
    const [first, second, other] = [source(1, 0.1), source(1, 0.1), source(2, 0.1)];
    for (let i = 0; i < ofOwner.messages; i++) first.say('x');
    expect([first.isRead, second.isRead, other.isRead]).toEqual([true, true, true]);
    first.say('x');
    expect([first.isRead, second.isRead, other.isRead]).toEqual([false, false, true]);
    const late = source(1, 0);
    expect(late.isRead).toBe(false);
    while (!first.isRead) await turn();
    expect([second.isRead, late.isRead]).toEqual([true, true]);
  });

  it('the sockets of an owner are not read beyond 8 MiB of queued messages', () => {
    const { line, source } = world();
    const socket = source(1, 0);
    for (let i = 0; i < 8; i++) line.wait(socket, new Uint8Array(ofOwner.bytes / 8), true);
    expect(socket.isRead).toBe(true);
    line.wait(socket, new Uint8Array(1), true);
    expect(socket.isRead).toBe(false);
  });

  it('no socket is read beyond 8,192 queued messages of the whole server', async () => {
    const { source } = world();
    const sockets = Array.from({ length: 8 }, (_, i) => source(i, 0.01));
    for (let i = 0; i < all.messages; i++) sockets[i % 8]?.say('x');
    const quiet = source('quiet' as never, 0);
    expect(quiet.isRead).toBe(true);
    sockets[0]?.say('x');
    expect([quiet.isRead, ...sockets.map(({ isRead }) => isRead)]).toEqual(Array(9).fill(false));
    const late = source('late' as never, 0);
    expect(late.isRead).toBe(false);
    while (!late.isRead) await turn();
    expect([quiet.isRead, ...sockets.map(({ isRead }) => isRead)]).toEqual(Array(9).fill(true));
  });

  it('a closed socket’s queued messages are still handled, and its later messages are not', async () => {
    const { done, line, source } = world();
    const socket = source(1, 0);
    socket.say('last words');
    line.leave(socket);
    await turn();
    expect(done).toEqual(['last words']);
    socket.say('nobody hears this');
    await turn();
    expect(done).toHaveLength(1);
  });
});
