import { describe, expect, it } from 'vitest';
import { readableLine } from '../../../src/app/readable-line.ts';

const line = (members: object) =>
  JSON.stringify({ level: 30, time: '2026-11-24T12:34:56.789Z', ...members });

describe('a log line on a terminal', () => {
  it('a log line has its time, its message and its members', () => {
    const json = line({ agents: 2, url: 'http://h', msg: 'the ledger was checked' });
    expect(readableLine(json, false)).toBe(
      '12:34:56  the ledger was checked  agents=2 url=http://h\n',
    );
  });

  it('a warning is called a warning, in colour where the terminal has colours', () => {
    const json = line({ level: 40, msg: 'slow' });
    expect(readableLine(json, false)).toBe('12:34:56  warning  slow\n');
    expect(readableLine(json, true)).toBe(
      '\u001b[2m12:34:56\u001b[0m  \u001b[33mwarning\u001b[0m  slow\n',
    );
  });

  it('a log line of an error has the stack below it and cuts a value of more than 100 characters', () => {
    const json = line({ level: 50, err: { stack: 'Error: x\n  at y' }, msg: 'failed' });
    expect(readableLine(json, false)).toBe('12:34:56  error  failed\n    Error: x\n      at y\n');
    const long = readableLine(line({ list: 'x'.repeat(101), msg: 'm' }), false);
    expect(long).toBe(`12:34:56  m  list=${'x'.repeat(100)}…\n`);
  });
});
