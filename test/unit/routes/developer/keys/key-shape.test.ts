import { describe, expect, it } from 'vitest';
import {
  DeveloperKeyBody,
  requireKeyBody,
} from '../../../../../src/routes/developer/keys/key-shape.ts';

describe('the body that asks for a developer key', () => {
  it('the body for a new developer key may be empty, and a malformed one is refused with 400', () => {
    expect(requireKeyBody(DeveloperKeyBody.parse({}))).toEqual({});
    expect(() => requireKeyBody(DeveloperKeyBody.parse({ label: 7 }))).toThrow(
      expect.objectContaining({ status: 400, error: 'Invalid request body' }),
    );
  });

  it('the body for a new developer key takes an expiry with any UTC offset', () => {
    const body = DeveloperKeyBody.parse({ expiresAt: '2027-01-01T02:00:00+02:00' });
    expect(requireKeyBody(body).expiresAt).toEqual(new Date('2027-01-01T00:00:00Z'));
  });
});
