import { describe, expect, it } from 'vitest';
import { describeTarget } from '../../../../src/platform/postgres/describe-target.ts';

describe('naming a database for people', () => {
  it('a database’s description never shows the password', () => {
    const url = 'postgres://alice:s3cret@db.example:5433/money?sslmode=require';
    expect(describeTarget({ kind: 'url', url })).toBe(
      'PostgreSQL at db.example:5433/money as alice',
    );
    expect(describeTarget({ kind: 'url', url: 'postgres://alice:s3cret@[bad/x' })).toBe(
      'the database of DATABASE_URL',
    );
  });
});
