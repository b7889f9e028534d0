import { describe, expect, it } from 'vitest';
import { judgeUplink, ownKeyProblem } from '../../../../src/protocols/openai-live/live-uplink.ts';

const judge = (text: string, isOwnKey = false) => judgeUplink(Buffer.from(text), isOwnKey);
const codeOf = (text: string) => {
  const judged = judge(text);
  return judged.kind === 'refused' ? judged.problem.code : judged.kind;
};
const START =
  '{"type":"session.start","session":{"model":"dear","delegation":{"type":"responses"}}}';

describe('judgeUplink', () => {
  it('judgeUplink passes audio, and returns its length', () => {
    expect(judge('{"type":"session.input_audio.append","audio":"AAAAAAAA"}')).toEqual({
      kind: 'sound',
      bytes: 6,
    });
  });

  it('judgeUplink lets no second session.start through, however it is written', () => {
    const attacks = [
      START,
      ` ${START.replace('session.start', 'session\\u002estart')}`,
      START.replace('{"type"', '{"type":"session.input_audio.append","type"'),
      START.replace('{', '{"type":"session.input_audio.append","audio":"AAAA",'),
    ];
    expect(attacks.map(codeOf)).toEqual(attacks.map(() => 'session_already_started'));
    expect(judge(START, true).kind).toBe('refused');
  });

  it('judgeUplink rewrites an event, so that the upstream cannot read another member than was judged', () => {
    const twice =
      '{"type":"session.update","session":{"delegation":{"type":"responses"}},"session":{"delegation":null}}';
    expect(judge(twice)).toEqual({
      kind: 'event',
      text: '{"type":"session.update","session":{"delegation":null}}',
    });
  });

  it('judgeUplink refuses what an upstream bills apart, unless the upstream bills the caller', () => {
    const apart = [
      '{"type":"session.update","session":{"delegation":{"type":"responses"}}}',
      '{"type":"session.update","session":{"triggers":[{}]}}',
      '{"type":"decision.create","event_id":"d"}',
      '{"type":"no.such.event"}',
    ];
    expect(apart.map(codeOf)).toEqual([
      'unsupported_parameter',
      'unsupported_parameter',
      'unsupported_event',
      'invalid_value',
    ]);
    expect(apart.map((text) => judge(text, true).kind)).toEqual(apart.map(() => 'event'));
  });

  it("judgeUplink refuses malformed events, and names the client's id of an event that it refuses", () => {
    expect(['no JSON', '[]', '{}', 'null'].map(codeOf)).toEqual([
      'invalid_json',
      ...Array.from({ length: 3 }, () => 'missing_required_parameter'),
    ]);
    expect(judge('{"type":"decision.create","event_id":"d1"}')).toMatchObject({
      problem: { eventId: 'd1' },
    });
  });
});

describe('ownKeyProblem', () => {
  const paramOf = (session: object) => ownKeyProblem(session)?.param;

  it('ownKeyProblem finds no problem when the application does the work and nothing is stored', () => {
    const free = [
      {},
      { delegation: null },
      { delegation: { type: 'client' } },
      { triggers: [] },
      { store: false },
      { store: null },
    ];
    expect(free.map(paramOf)).toEqual(free.map(() => undefined));
  });

  it('ownKeyProblem names every other delegation, and triggers', () => {
    const billed = [
      { delegation: { type: 'responses' } },
      { delegation: { type: 'decisions' } },
      { delegation: 'client' },
      { triggers: {} },
      { triggers: [1] },
    ];
    expect(billed.map(paramOf)).toEqual(billed.map(() => 'session.delegation'));
  });

  it('ownKeyProblem keeps sessions out of the store of an account that others share', () => {
    const stored = [{ store: true }, { store: 'true' }, { store: 1 }];
    expect(stored.map(paramOf)).toEqual(stored.map(() => 'session.store'));
    const update = '{"type":"session.update","session":{"store":true}}';
    expect([codeOf(update), judge(update, true).kind]).toEqual(['unsupported_parameter', 'event']);
  });
});
