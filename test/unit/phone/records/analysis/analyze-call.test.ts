import { describe, expect, it } from 'vitest';
import { analyzeCall } from '../../../../../src/phone/records/analysis/analyze-call.ts';
import type { StoredTurn } from '../../../../../src/phone/records/call-summary.ts';

const CALL = {
  direction: 'outbound',
  durationSeconds: 42,
  endReason: 'call_ended',
  answeredBy: null,
} as const;

const turn = (role: StoredTurn['role'], content: string, heard: string | null = null) => ({
  role,
  content,
  heard,
  latency: null,
  at: new Date(0),
});
const greeting = turn('assistant', 'Hello.');
const asked = turn('user', 'When do you open?');
const answer = turn('assistant', 'At nine in the morning.');
const CONVERSATION = [greeting, asked, answer];

describe('the analysis of a call', () => {
  it("the analysis of a call takes its numbers from the call's record, names its method, and has no sentiment", () => {
    expect(analyzeCall(CALL, [greeting, asked, turn('assistant', 'At nine', 'At')])).toEqual({
      success: true,
      sentiment: null,
      structuredData: {
        method: 'rules',
        direction: 'outbound',
        endReason: 'call_ended',
        answeredBy: null,
        durationSeconds: 42,
        callerTurns: 1,
        agentTurns: 2,
        heardAnswers: 1,
        interruptions: 1,
        lastSpeaker: 'agent',
      },
    });
  });

  it.each([
    ['nothing was said', CALL, []],
    ['only the agent spoke', CALL, [greeting, answer]],
    ['the far side got no answer', CALL, [greeting, asked]],
    ['nothing was heard of the answer', CALL, [greeting, asked, turn('assistant', 'At nine', '')]],
    ['a machine answered', { ...CALL, answeredBy: 'machine_start' as const }, CONVERSATION],
    ['money ended it', { ...CALL, endReason: 'budget_exhausted' as const }, CONVERSATION],
    ['its process was lost', { ...CALL, endReason: 'backstop_settled' as const }, CONVERSATION],
    ['it has no reason', { ...CALL, endReason: null }, CONVERSATION],
  ])('the analysis of a call is no success when %s', (_, call, turns) => {
    expect(analyzeCall(call, turns).success).toBe(false);
  });

  it.each(['call_ended', 'agent_ended', 'call_transfer'] as const)(
    'the analysis of a call that ended with %s is a success, also when a person answered',
    (endReason) => {
      const call = { ...CALL, endReason, answeredBy: 'human' as const };
      expect(analyzeCall(call, CONVERSATION).success).toBe(true);
    },
  );
});
