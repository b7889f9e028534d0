import { describe, expect, it } from 'vitest';
import { AnswerBody } from '../../../../src/platform/egress/answer-body.ts';
import { EGRESS_LIMITS } from '../../../../src/platform/egress/limits.ts';

function watched() {
  const told: string[] = [];
  const body = new AnswerBody({
    resume: () => told.push('resume'),
    abandon: () => told.push('abandon'),
  });
  return { body, told };
}

const bytes = (text: string) => Buffer.from(text);

async function gather(body: AsyncIterable<Uint8Array>): Promise<string[]> {
  const chunks: string[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk).toString());
  return chunks;
}

describe('the body of an answer', () => {
  it('an upstream body is read in order, whether the reader or the bytes came first', async () => {
    const { body } = watched();
    body.push(bytes('a'));
    const read = gather(body);
    await Promise.resolve();
    body.push(bytes('b'));
    body.end();
    expect((await read).join('')).toBe('ab');
  });

  it('an upstream body buffers up to its limit and resumes once it is empty', async () => {
    const { body, told } = watched();
    const chunk = new Uint8Array(EGRESS_LIMITS.response.queueBytes / 2);
    expect(body.push(chunk)).toBe(true);
    expect(body.isFull).toBe(false);
    expect(body.push(chunk)).toBe(false);
    expect(body.isFull).toBe(true);
    const reader = body[Symbol.asyncIterator]();
    await reader.next();
    expect(told).toEqual([]);
    await reader.next();
    expect(told).toEqual(['resume']);
    expect(body.isFull).toBe(false);
  });

  it('an upstream body joins small chunks', async () => {
    const { body } = watched();
    for (let i = 0; i < 10_000; i++) body.push(Uint8Array.of(i & 0xff));
    body.end();
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    expect(chunks.length).toBeLessThan(10);
    const whole = Buffer.concat(chunks);
    expect(whole).toHaveLength(10_000);
    expect(whole.every((byte, i) => byte === (i & 0xff))).toBe(true);
  });

  it('an upstream body is available whole after its end, which counts as its reading', () => {
    const { body, told } = watched();
    body.push(bytes('small '));
    body.push(Buffer.alloc(3_000, 'x'));
    expect(body.whole()).toBeUndefined();
    body.end();
    expect(Buffer.from(body.whole() ?? []).toString()).toBe(`small ${'x'.repeat(3_000)}`);
    expect(body.whole()).toBeUndefined();
    expect(() => body[Symbol.asyncIterator]()).toThrow('read once');
    expect(told).toEqual([]);
  });

  it('an upstream body is not available whole after it broke off or once a reader has begun', () => {
    const broken = watched().body;
    broken.push(bytes('a'));
    broken.fail(new Error('broke off'));
    expect(broken.whole()).toBeUndefined();
    const begun = watched().body;
    begun.push(bytes('a'));
    begun[Symbol.asyncIterator]();
    begun.end();
    expect(begun.whole()).toBeUndefined();
  });

  it('an upstream body keeps small and large chunks in order', async () => {
    const { body } = watched();
    const parts = ['a', 'b'.repeat(5_000), 'c', 'd', 'e'.repeat(3_000), 'f'];
    for (const part of parts) body.push(bytes(part));
    body.end();
    expect((await gather(body)).join('')).toBe(parts.join(''));
  });

  it('an upstream body gives what came before its failure, then throws the first error each time', async () => {
    const { body } = watched();
    body.push(bytes('a'));
    body.fail(new Error('first'));
    body.fail(new Error('second'));
    const reader = body[Symbol.asyncIterator]();
    expect((await reader.next()).done).toBe(false);
    await expect(reader.next()).rejects.toThrow('first');
    await expect(reader.next()).rejects.toThrow('first');
  });

  it('a failing upstream body fails a reader that waits', async () => {
    const { body } = watched();
    const read = gather(body);
    body.fail(new Error('broken'));
    await expect(read).rejects.toThrow('broken');
  });

  it('an upstream body can be read once', async () => {
    const { body } = watched();
    body.end();
    await gather(body);
    await expect(gather(body)).rejects.toThrow('read once');
  });

  it('an upstream body is abandoned by a reader that leaves, but not after its end', async () => {
    const left = watched();
    left.body.push(bytes('a'));
    for await (const _ of left.body) break;
    expect(left.told).toEqual(['abandon']);

    const ended = watched();
    ended.body.push(bytes('a'));
    ended.body.end();
    for await (const _ of ended.body) break;
    ended.body.abandon();
    expect(ended.told).toEqual([]);
  });
});
