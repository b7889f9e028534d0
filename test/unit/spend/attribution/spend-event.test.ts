import { describe, expect, it } from 'vitest';
import { readLine } from '../../../../src/spend/attribution/spend-event.ts';

const AT = 1_786_449_600;
const EVENT = { timestamp: AT, kind: 'llm', model_or_tool: 'gpt-x', cost_usd: 0.25 };

const read = (value: object | string) =>
  readLine(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));

const eventIn = (value: object | string) => {
  const line = read(value);
  return line.kind === 'event' ? line.event : line.kind;
};

/** The event with one price, spelled as given. */
const priced = (spelling: string) =>
  eventIn(`{"timestamp":${AT},"kind":"tool","model_or_tool":"t","cost_usd":${spelling}}`);

describe('a line of an upload', () => {
  it('a line of a spend upload is an event whose optional fields may be left out or null', () => {
    const bare = {
      atMicros: AT * 1e6,
      kind: 'llm',
      modelOrTool: 'gpt-x',
      costRaw: 250_000n,
      promptTokens: null,
      completionTokens: null,
      label: null,
    };
    expect(eventIn(EVENT)).toEqual(bare);
    const nothing = { prompt_tokens: null, completion_tokens: null, label: null };
    expect(eventIn({ ...EVENT, ...nothing })).toEqual(bare);
    const full = { prompt_tokens: 0, completion_tokens: 2_147_483_647, label: 'größe 🔑' };
    expect(eventIn({ ...EVENT, ...full })).toEqual({
      ...bare,
      promptTokens: 0,
      completionTokens: 2_147_483_647,
      label: 'größe 🔑',
    });
    for (const reserved of [true, false, 0, 1.5, null]) {
      expect(eventIn({ ...EVENT, reserved })).toEqual(bare);
    }
    expect(eventIn(`  ${JSON.stringify(EVENT)} \r`)).toEqual(bare);
  });

  it('a line of a spend upload is blank, readable or unreadable, and only a JSON object is readable', () => {
    for (const blank of ['', ' ', '\t \r']) expect(read(blank)).toEqual({ kind: 'blank' });
    const unreadable = ['x', '{', '[]', 'null', '1', '"a"', '{}{}', '\u0000', '\ufeff{}', 'NaN'];
    for (const line of unreadable) {
      expect(read(line), line).toEqual({ kind: 'rejected', isReadable: false });
    }
    const notUtf8 = Buffer.concat([
      Buffer.from('{"label":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    expect(readLine(notUtf8)).toEqual({ kind: 'rejected', isReadable: false });
    expect(read('{}')).toEqual({ kind: 'rejected', isReadable: true });
  });

  it('a line of a spend upload is rejected for each field that is unknown, missing or of a wrong type', () => {
    const changes: Record<string, unknown>[] = [
      { extra: 1 },
      { __proto__x: 1 },
      { timestamp: undefined },
      { timestamp: null },
      { timestamp: true },
      { kind: 'LLM' },
      { kind: undefined },
      { model_or_tool: '' },
      { model_or_tool: 5 },
      { model_or_tool: undefined },
      { model_or_tool: 'x'.repeat(257) },
      { model_or_tool: 'a\0' },
      { cost_usd: undefined },
      { cost_usd: null },
      { cost_usd: '0.25' },
      { prompt_tokens: -1 },
      { prompt_tokens: 1.5 },
      { prompt_tokens: '1' },
      { completion_tokens: 2_147_483_648 },
      { label: 5 },
      { label: '\ud83d' },
      { label: 'x'.repeat(257) },
      { reserved: 'yes' },
    ];
    for (const change of changes) {
      expect(read({ ...EVENT, ...change }), JSON.stringify(change)).toEqual({
        kind: 'rejected',
        isReadable: true,
      });
    }
    const text = JSON.stringify(EVENT);
    expect(read(text.replace('{', '{"__proto__":{"x":1},')).kind).toBe('rejected');
    expect(read(text.replace('{', '{"constructor":1,')).kind).toBe('rejected');
  });

  it('the cost in a spend upload is read from its decimal digits, half a unit rounded up', () => {
    const cost = (spelling: string) => {
      const event = priced(spelling);
      return typeof event === 'string' ? event : event.costRaw;
    };
    expect(cost('0')).toBe(0n);
    expect(cost('-0')).toBe(0n);
    expect(cost('1e-9')).toBe(0n);
    expect(cost('0.0000004')).toBe(0n);
    expect(cost('0.0000005')).toBe(1n);
    expect(cost('5e-7')).toBe(1n);
    expect(cost('5E-05')).toBe(50n);
    // As floats all three are a little less than they say.
    expect(cost('1.0000005')).toBe(1_000_001n);
    expect(cost('0.1234565')).toBe(123_457n);
    expect(cost('8.1234565')).toBe(8_123_457n);
    expect(cost('0.12345649999999999999999')).toBe(123_456n);
    expect(cost('1000000000')).toBe(1_000_000_000_000_000n);
    for (const bad of ['1000000000.000001', '1e21', '1e999', '-0.01', 'NaN']) {
      expect(cost(bad), bad).toBe('rejected');
    }
  });

  it('the cost in a spend upload is that of the last cost_usd member, however it is escaped', () => {
    const line = (members: string) =>
      eventIn(`{"timestamp":${AT},"kind":"tool","model_or_tool":"t",${members}}`);
    expect(line('"cost_usd":1,"cost_usd":2')).toMatchObject({ costRaw: 2_000_000n });
    expect(line('"cost_usd":1,"cost\\u005fusd":2')).toMatchObject({ costRaw: 2_000_000n });
    expect(line('"label":"\\"cost_usd\\":7","cost_usd" : 2')).toMatchObject({
      costRaw: 2_000_000n,
    });
  });

  it('the time in a spend upload is in Unix seconds or ISO 8601, read to the microsecond', () => {
    const at = (timestamp: number | string) => {
      const event = eventIn({ ...EVENT, timestamp });
      return typeof event === 'string' ? event : event.atMicros;
    };
    expect(at(AT + 0.123456)).toBe(AT * 1e6 + 123_456);
    const written = ['2026-08-11T12:00:00Z', '2026-08-11T14:00:00+02:00', '2026-08-11T12:00:00'];
    for (const text of [...written, '2026-08-11T12:00:00.000000000Z']) {
      expect(at(text), text).toBe(AT * 1e6);
    }
    expect(at('2026-08-11T12:00:00.1234569+00:00')).toBe(AT * 1e6 + 123_456);
    expect(at('2026-08-11T12:00:00.5')).toBe(AT * 1e6 + 500_000);
    const bad = [
      '',
      'today',
      '2026-08-11',
      '2026-02-30T00:00:00Z',
      '2026-08-11T12:00Z',
      '2026-08-11 12:00:00',
      '1786449600',
    ];
    for (const time of [...bad, AT * 1_000, -1, 0, 1e300, '1999-12-31T23:59:59Z']) {
      expect(at(time), String(time)).toBe('rejected');
    }
  });
});
