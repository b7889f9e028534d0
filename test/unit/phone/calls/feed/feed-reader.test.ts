import { describe, expect, it } from 'vitest';
import { encodeEvent } from '../../../../../src/phone/calls/feed/feed-event.ts';
import { FeedReader } from '../../../../../src/phone/calls/feed/feed-reader.ts';

const said = (text: string) => encodeEvent({ type: 'transcript', role: 'user', text });
const read = async (reader: FeedReader) => {
  const { done, value } = await reader.next();
  return done === true ? undefined : Buffer.from(value).toString();
};

describe('a reader of a live call', () => {
  it('a reader of a live call gets all events that wait, in their order', async () => {
    const reader = new FeedReader(1_000, () => {});
    reader.push(said('one'));
    reader.push(encodeEvent({ type: 'turn', seq: 3, role: 'user', text: 'one.', at: 'now' }));
    expect(await read(reader)).toBe(
      'event: transcript\ndata: {"role":"user","text":"one"}\n\n' +
        'id: 3\nevent: turn\ndata: {"seq":3,"role":"user","text":"one.","at":"now"}\n\n',
    );
  });

  it('a reader that is too slow loses the oldest events and is told how many', async () => {
    const event = said('x'.repeat(100));
    const reader = new FeedReader(event.byteLength * 3, () => {});
    for (let n = 0; n < 1_000; n++) reader.push(event);
    const text = (await read(reader)) ?? '';
    expect(text.startsWith('event: lost\ndata: {"events":997}\n\n')).toBe(true);
    expect(text.match(/event: transcript/g)).toHaveLength(3);
    reader.push(said('next'));
    expect(await read(reader)).toBe('event: transcript\ndata: {"role":"user","text":"next"}\n\n');
  });

  it('a reader that ends gets what waits, and its stream is over then', async () => {
    let closed = 0;
    const reader = new FeedReader(1_000, () => closed++);
    const waiting = read(reader);
    reader.push(said('last'));
    reader.end();
    reader.push(said('too late'));
    expect(await waiting).toContain('last');
    expect(await read(reader)).toBeUndefined();
    expect(closed).toBe(1);
  });

  it('a reader that leaves while it waits for an event is released at once', async () => {
    let closed = 0;
    const reader = new FeedReader(1_000, () => closed++);
    const waiting = reader.next();
    await reader.return();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(closed).toBeGreaterThan(0);
  });
});
