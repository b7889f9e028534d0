import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../../src/http/route/answer.ts';
import { ApiError } from '../../../src/kernel/api-error.ts';
import { COPY_BYTES_PER_TURN } from '../../../src/kernel/long-work.ts';
import { createToolSlots } from '../../../src/mcp/call-slots.ts';
import { createCheckOrigin } from '../../../src/mcp/check-origin.ts';
import { MCP_LIMITS } from '../../../src/mcp/limits.ts';
import { readMessages } from '../../../src/mcp/read-messages.ts';
import { readAnswer } from '../../../src/mcp/route-answer.ts';
import { type CallName, workKey } from '../../../src/mcp/work-key.ts';

describe('the key of a call', () => {
  const keyOf = (named: Partial<CallName>) =>
    workKey({
      metaKey: undefined,
      headerKey: 'k',
      id: 1,
      tool: 'speak',
      args: { text: 'a', speed: 1 },
      ...named,
    });

  it('the idempotency key of a tool call is the key in its _meta when it has one', async () => {
    expect(await keyOf({ metaKey: 'mine' })).toBe('mine');
    expect(await keyOf({ metaKey: '' })).toBe('');
  });

  it('a tool call whose _meta key is not a string is refused', async () => {
    for (const metaKey of [7, null, {}, ['k'], false]) {
      await expect(keyOf({ metaKey })).rejects.toMatchObject({
        status: 400,
        error: 'Invalid request',
        fields: { details: [{ path: ['_meta', 'idempotencyKey'] }] },
      });
    }
  });

  it('the idempotency key of a tool call is a hash of the header key, message id, tool and arguments', async () => {
    const long = { audio: 'A'.repeat(2 * COPY_BYTES_PER_TURN) };
    const calls = [
      ...[1, 2, '1', '2', 'é'.repeat(200)].map((id) => ({ id })),
      { headerKey: 'other' },
      { tool: 'think' },
      { args: undefined },
      { args: long },
      { args: { text: 'a' } },
      { args: { text: 'b', speed: 1 } },
      { args: { text: ['a'] } },
    ];
    const keys = await Promise.all(calls.map(keyOf));
    expect(new Set(keys).size).toBe(calls.length);
    for (const key of keys) expect(key).toMatch(/^mcp-[0-9a-f]{64}$/);
    expect(await keyOf({ args: { speed: 1, text: 'a' } })).toBe(keys[0]);
    expect(await keyOf({ args: { ...long } })).toBe(keys[8]);
  });

  it('a tool call without a key in its header or _meta has no idempotency key', async () => {
    expect(await keyOf({ headerKey: undefined })).toBeUndefined();
  });
});

describe('the origin of a request', () => {
  const check = (origin: string | undefined, own?: string) => () => createCheckOrigin(own)(origin);

  it('an MCP request may have no origin, this server’s origin or a localhost origin', () => {
    expect(check(undefined)).not.toThrow();
    expect(check('https://a.example', 'https://a.example/base/')).not.toThrow();
    for (const own of ['http://localhost:1', 'http://127.0.0.1', 'http://[::1]:9']) {
      expect(check(own)).not.toThrow();
    }
  });

  it('an MCP request from a foreign origin is refused, even from a host name that points to this machine', () => {
    for (const foreign of ['https://a.example', 'null', '', 'http://127.0.0.1.nip.example']) {
      expect(check(foreign)).toThrow(ApiError);
    }
    expect(check('https://b.example', 'https://a.example')).toThrow(ApiError);
    expect(check('http://a.example', 'https://a.example')).toThrow(ApiError);
  });
});

describe('the messages of a body', () => {
  const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' });
  const note = { jsonrpc: '2.0', method: 'notifications/cancelled' };

  it('the MCP message reader changes no message, and drops notifications from a batch', () => {
    for (const body of [ping(1), note, 7, null, 'x', {}]) expect(readMessages(body)).toBe(body);
    expect(readMessages([ping(1), note, ping('1')])).toEqual([ping(1), ping('1')]);
    expect(readMessages([note, note])).toBeUndefined();
  });

  it('an MCP batch that is empty, too long or has duplicate ids is refused, and so is a message with too long an id', () => {
    const many = Array.from({ length: MCP_LIMITS.batch + 1 }, (_, id) => ping(id));
    expect(readMessages(many.slice(1))).toHaveLength(MCP_LIMITS.batch);
    const long = 'i'.repeat(MCP_LIMITS.idChars + 1);
    for (const body of [[], many, [ping(1), ping(1)], [{}, {}], ping(long), [ping(long)]]) {
      expect(() => readMessages(body)).toThrow(ApiError);
    }
  });
});

describe('the calls of an agent under way', () => {
  it('an agent’s concurrent tool calls are limited, and a finished call frees its slot', async () => {
    const slots = createToolSlots(2);
    const ends: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => ends.push(resolve));
    const first = slots.take(1, work);
    const second = slots.take(1, work);
    await expect(slots.take(1, work)).rejects.toMatchObject({ status: 429 });
    const other = slots.take(2, work);
    expect(slots.size).toBe(2);
    ends[0]?.();
    await first;
    await expect(slots.take(1, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    for (const end of ends) end();
    await Promise.all([second, other]);
    expect(slots.size).toBe(0);
  });
});

describe('the answer of a route', () => {
  const answer = (body: string | Uint8Array | AsyncIterable<Uint8Array>) => ({
    status: 200,
    headers: { 'content-type': 'x/y' },
    body,
  });
  const over = new AbortController();
  const read = (told: HttpAnswer) => readAnswer(told, 3, over.signal);
  let left = 0;
  async function* pieces(sizes: readonly number[], broken = false) {
    try {
      for (const size of sizes) yield new Uint8Array(size);
      if (broken) throw new Error('gone');
    } finally {
      left++;
    }
  }

  it('a route’s response is read up to its byte limit and no further', async () => {
    expect(await read(answer('abc'))).toMatchObject({ contentType: 'x/y', isCut: false });
    expect((await read(answer('abcd'))).bytes.toString()).toBe('abc');
    expect(await read(answer('abcd'))).toMatchObject({ isCut: true });
    expect(await read(answer(pieces([2, 1])))).toMatchObject({ isCut: false });
    left = 0;
    const cut = await read(answer(pieces([2, 2, 2])));
    expect([cut.bytes.length, cut.isCut, left]).toEqual([3, true, 1]);
  });

  it('a route’s response that breaks off keeps the bytes that arrived', async () => {
    const broken = await read(answer(pieces([2], true)));
    expect([broken.bytes.length, broken.isCut]).toEqual([2, true]);
  });

  it('reading a hanging route’s response ends with its tool call', async () => {
    let returned = 0;
    const hanging = {
      [Symbol.asyncIterator]: () => ({
        next: () => (returned === -1 ? never : Promise.resolve({ done: false, value: first() })),
        return: async () => {
          returned = 1;
          return { done: true as const, value: undefined };
        },
      }),
    };
    const never = new Promise<never>(() => {});
    const first = () => {
      returned = -1;
      return new Uint8Array(2);
    };
    const reading = read(answer(hanging));
    await new Promise((resolve) => setImmediate(resolve));
    over.abort();
    expect(await reading).toMatchObject({ bytes: Buffer.alloc(2), isCut: true });
    expect(returned).toBe(1);
  });
});
