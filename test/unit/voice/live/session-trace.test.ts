import { beforeEach, describe, expect, it } from 'vitest';
import { SessionTrace } from '../../../../src/voice/live/session-trace.ts';
import { RecordedSpan } from '../../../support/recorded-span.ts';

let nowMs: number;
let root: RecordedSpan;
let trace: SessionTrace;
beforeEach(() => {
  nowMs = 1_000;
  root = new RecordedSpan('handshake');
  const clock = { monotonicMs: () => nowMs };
  trace = new SessionTrace({ clock, begin: (name, start) => root.child(name, start) });
});

const rates = { text_output_token: 1n };
const source = {
  rail: 'self-host',
  provider: 'local',
  upstreamModel: 'm',
  rates,
  marginBps: 0,
} as const;
const begin = () => {
  const owner = { sessionId: 'sess_1', kind: 'realtime', model: 'local/realtime', source } as const;
  trace.began({ ...owner, spender: { agentId: 7 } });
  const session = root.children[0];
  if (session === undefined) throw new Error('no session');
  return session;
};
const stagesOf = (turn: RecordedSpan | undefined) =>
  turn?.children.map(({ ended, name, start }) => [name, start.atMs, ended?.atMs]);

describe('the trace of a session', () => {
  it('the trace of a session times a turn from the end of the speech that it answers, stage by stage', () => {
    const session = begin();
    trace.utteranceEnded();
    nowMs = 1_200;
    trace.heard(700, true);
    const turn = trace.answers(true);
    expect(trace.span).toBe(session.children[0]);
    nowMs = 1_300;
    turn?.token();
    nowMs = 1_350;
    turn?.sound();
    turn?.frame();
    nowMs = 2_000;
    turn?.token();
    turn?.finished(undefined, 'a');
    expect(trace.span).toBe(session);
    expect(session.children[0]?.start.atMs).toBe(500);
    expect(stagesOf(session.children[0])).toEqual([
      ['end_of_turn', 500, 1_000],
      ['transcript', 1_000, 1_200],
      ['first_token', 1_200, 1_300],
      ['first_sound', 1_300, 1_350],
      ['first_frame', 1_350, 1_350],
    ]);
    turn?.billed({ inputTokens: 20, cachedTokens: 5, outputTokens: 8, costRaw: 42n });
    expect(session.children[0]?.attributes).toMatchObject({
      'svc.cost_raw': 42,
      'svc.answer.id': 'a',
      'svc.turn.interrupted': false,
      'gen_ai.usage.cache_read.input_tokens': 5,
    });
  });

  it('the trace of a session keeps the order of stages when a speculative answer is ahead of the words', () => {
    const session = begin();
    trace.heard(200, true);
    const turn = trace.answers(true);
    turn?.finished(undefined, 'a', 900);
    expect(stagesOf(session.children[0])).toEqual([
      ['end_of_turn', 800, 1_000],
      ['transcript', 1_000, 1_000],
      ['first_frame', 1_000, 1_000],
    ]);
  });

  it('the trace of a session has no end of speech in an unprompted answer, nor twice for one speech', () => {
    const session = begin();
    trace.heard(200, false);
    trace.answers(true)?.finished(undefined, 'a');
    trace.heard(200, true);
    trace.answers(false)?.finished(undefined, 'a');
    trace.answers(true)?.finished(undefined, 'a');
    trace.answers(true)?.finished(undefined, 'a');
    expect(session.children.map((turn) => stagesOf(turn)?.length)).toEqual([0, 0, 2, 0]);
  });

  it('the trace of a session ends a failed or unjournaled turn once, with its outcome', () => {
    const session = begin();
    const failed = trace.answers(true);
    failed?.finished({ kind: 'failed', code: 'llm_refused', message: 'secret' }, 'a');
    failed?.billed(undefined);
    failed?.billed({ costRaw: 1n });
    const interrupted = trace.answers(true);
    interrupted?.finished({ kind: 'cancelled', reason: 'turn_detected' }, 'a');
    interrupted?.billed({ costRaw: 0n });
    expect(session.children.map(({ ended }) => ended?.error)).toEqual(['llm_refused', undefined]);
    expect(session.children[0]?.attributes).not.toHaveProperty('svc.cost_raw');
    expect(session.children[1]?.attributes['svc.turn.interrupted']).toBe(true);
    expect(JSON.stringify(session.children.map(({ attributes }) => attributes))).not.toContain(
      'secret',
    );
  });

  it('the trace of a session sums what the ledger charged over all holds, and ends with the session', () => {
    const session = begin();
    trace.interrupted();
    trace.charged(30n);
    trace.charged(12n);
    trace.ended('client_gone', false, undefined);
    trace.ended('taken_over', true, undefined);
    expect(session.events).toEqual(['interruption']);
    expect(session.attributes).toMatchObject({
      'svc.cost_raw': 42,
      'svc.session.end_reason': 'client_gone',
      'svc.agent.id': 7,
    });
    expect(session.ended?.error).toBeUndefined();
  });

  it('the trace of a session that never began has no span', () => {
    trace.heard(200, true);
    expect(trace.answers(true)).toBeUndefined();
    trace.ended('refused', true, undefined);
    expect(root.children).toEqual([]);
  });

  it('the trace of a session remembers a bounded number of utterances whose words never come', () => {
    begin();
    for (let i = 0; i < 1_000; i++) {
      nowMs = 1_000 + i;
      trace.utteranceEnded();
    }
    for (let i = 0; i < 16; i++) trace.heard(0, true);
    nowMs = 5_000;
    trace.heard(0, true);
    const turn = trace.answers(true);
    turn?.finished(undefined, 'a');
    expect(root.children[0]?.children[0]?.start.atMs).toBe(5_000);
  });
});
