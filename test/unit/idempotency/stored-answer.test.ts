import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeReplay, encodeAnswer } from '../../../src/idempotency/stored-answer.ts';

const answer = { status: 200, headers: { 'content-type': 'text/plain' }, body: '' };

describe('a stored answer', () => {
  it('comes back byte for byte, whatever the bytes, and says that it is a replay', () => {
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

  it('keeps the request id of the request that it was made for, and an older one has none', () => {
    const stored = encodeAnswer({ ...answer, requestId: 'req_1' }, '{}', 1_000);
    expect(decodeReplay(stored as Buffer).requestId).toBe('req_1');
    expect(decodeReplay(encodeAnswer(answer, '{}', 1_000) as Buffer).requestId).toBeUndefined();
  });

  it('keeps text as the bytes that went out', () => {
    const stored = encodeAnswer(answer, '{"word":"naïve ☂"}', 1_000);
    const { body } = decodeReplay(stored as Buffer);
    expect(Buffer.from(body as Uint8Array).toString()).toBe('{"word":"naïve ☂"}');
  });

  it('is not kept where its body is longer than the bound in bytes', () => {
    expect(encodeAnswer(answer, 'é'.repeat(50), 100)).not.toBeNull();
    expect(encodeAnswer(answer, 'é'.repeat(51), 100)).toBeNull();
  });
});
