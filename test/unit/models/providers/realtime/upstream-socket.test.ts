import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type WebSocket from 'ws';
import { LiveUpstream } from '../../../../../src/models/providers/realtime/upstream-socket.ts';
import { MESSAGE_LIMITS } from '../../../../../src/platform/messages/limits.ts';
import { MessageQueue } from '../../../../../src/platform/messages/message-queue.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

class FakeWebSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  isPaused = false;
  bufferedAmount = 0;
  readonly pongs: string[] = [];
  pause() {
    this.isPaused = true;
  }
  resume() {
    this.isPaused = false;
  }
  ping() {}
  pong(data: Buffer) {
    this.pongs.push(data.toString());
  }
  close() {}
  terminate() {
    this.emit('close', 1006, Buffer.alloc(0));
  }
}

/** Upstreams of agent 1, each of whose messages takes `ms`. */
function world(ms = 0) {
  const clock = new ManualClock();
  const line = new MessageQueue(clock);
  const open = () => {
    const ws = new FakeWebSocket();
    const upstream = new LiveUpstream(ws as unknown as WebSocket, { clock, line, agentId: 1 });
    const heard: string[] = [];
    upstream.listen({
      frame(bytes) {
        clock.advance(ms);
        heard.push(bytes.toString('utf8', 0, 8));
      },
      closed: (code) => heard.push(`closed ${code}`),
    });
    return { ws, heard, say: (bytes: Buffer) => ws.emit('message', bytes, true) };
  };
  return { clock, open };
}

describe('a socket at an upstream', () => {
  it('an upstream socket pauses after 16 MiB at once and resumes at 4 MiB a second', () => {
    const { clock, open } = world();
    const { heard, say, ws } = open();
    for (let i = 0; i < 4; i++) say(Buffer.alloc(4 * 1024 * 1024));
    expect(ws.isPaused).toBe(false);
    say(Buffer.alloc(1024 * 1024));
    expect(ws.isPaused).toBe(true);
    clock.advance(249);
    expect(ws.isPaused).toBe(true);
    clock.advance(2);
    expect(ws.isPaused).toBe(false);
    expect(heard).toHaveLength(5);
  });

  it('an upstream socket pauses when its frames take more than a tenth of the process’s time', () => {
    const { clock, open } = world(4);
    const { say, ws } = open();
    let messages = 0;
    for (; !ws.isPaused; messages++) {
      say(Buffer.alloc(1));
      clock.advance(1);
    }
    // 100 ms at once, and 10 ms that flowed back meanwhile.
    expect(messages).toBe(29);
  });

  it('an upstream socket shares 64 MiB at once with all other sockets of its agent', () => {
    const { open } = world();
    const links = Array.from({ length: 5 }, open);
    for (const { say } of links.slice(0, 4)) say(Buffer.alloc(16 * 1024 * 1024));
    expect(links.map(({ ws }) => ws.isPaused)).toEqual(Array(5).fill(false));
    links[4]?.say(Buffer.alloc(1));
    expect(links.map(({ ws }) => ws.isPaused)).toEqual([false, false, false, false, true]);
  });

  it('an upstream socket is closed with 1006 when over 4,096 messages wait, after delivering them', async () => {
    const { open } = world(MESSAGE_LIMITS.msPerTurn);
    const { heard, say } = open();
    say(Buffer.from('first'));
    for (let i = 0; i < MESSAGE_LIMITS.waiting.link.messages; i++) say(Buffer.from('more'));
    expect(heard).toEqual(['first']);
    say(Buffer.from('too many'));
    expect(heard).toEqual(['first']);
    while (!heard.at(-1)?.startsWith('closed')) await turn();
    expect(heard.at(-1)).toBe('closed 1006');
    expect(heard).toHaveLength(1 + 4_096 + 1);
  });

  it('an upstream socket answers the last of the pings that arrive in one turn', async () => {
    const { open } = world();
    const { ws } = open();
    for (let i = 0; i < 100; i++) ws.emit('ping', Buffer.from(`${i}`));
    await turn();
    expect(ws.pongs).toEqual(['99']);
  });
});
