import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeReplay, encodeAnswer } from '../../../src/idempotency/stored-answer.ts';

const answer = { status: 200, headers: { 'content-type': 'text/plain' }, body: '' };

describe('a stored answer', () => {
  it('a stored response comes back byte for byte, and is marked as a replay', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), fc.string(), (bytes, value) => {
        const headers = { 'content-type': 'x/y', 'x-svc-odd': value };
        const stored = encodeAnswer({ ...answer, status: 418, headers }, bytes, 2_000);
        const replay = decodeReplay(stored as Buffer);
        expect(replay.status).toBe(418);
        expect(replay.headers).toEqual({ ...headers, 'x-svc-idempotent-replay': 'true' });
        expect(Buffer.from(replay.body as Uint8Array).equals(bytes)).toBe(true);
      }),
    );
  });

  it('a stored response keeps the id of its request, and a response stored by an older version has no id', () => {
    const stored = encodeAnswer({ ...answer, requestId: 'req_1' }, '{}', 1_000);
    expect(decodeReplay(stored as Buffer).requestId).toBe('req_1');
    expect(decodeReplay(encodeAnswer(answer, '{}', 1_000) as Buffer).requestId).toBeUndefined();
  });

  it('a stored response keeps text as the bytes that went out', () => {
    const stored = encodeAnswer(answer, '{"word":"naïve ☂"}', 1_000);
    const { body } = decodeReplay(stored as Buffer);
    expect(Buffer.from(body as Uint8Array).toString()).toBe('{"word":"naïve ☂"}');
  });

  it('a response is not stored where its body is longer than the limit in bytes', () => {
    expect(encodeAnswer(answer, 'é'.repeat(50), 100)).not.toBeNull();
    expect(encodeAnswer(answer, 'é'.repeat(51), 100)).toBeNull();
  });
});
