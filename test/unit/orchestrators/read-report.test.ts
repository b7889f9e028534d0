import type { Vapi } from '@vapi-ai/server-sdk';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/kernel/api-error.ts';
import { parseDigits } from '../../../src/kernel/json/digits.ts';
import type { Json } from '../../../src/kernel/json.ts';
import type { Provider } from '../../../src/orchestrators/platform.ts';
import { readReport } from '../../../src/orchestrators/read-report.ts';

const read = (provider: Provider, text: string) => readReport(provider, parseDigits(text) as Json);

/** Bodies of a call-end in which `COST` stands for the cost as it is spelled. */
const BODIES = {
  vapi: '{"message":{"type":"end-of-call-report","cost":COST,"call":{"id":"c1"}}}',
  retell: '{"event":"call_ended","call":{"call_id":"c1","call_cost":{"combined_cost":COST}}}',
  bland: '{"call_id":"c1","price":COST}',
  pipecat: '{"external_call_id":"c1","cost_usd":COST}',
  livekit: '{"external_call_id":"c1","cost_micro_usdc":COST}',
} as const;

function refusalOf(provider: Provider, text: string): string {
  try {
    read(provider, text);
    return 'taken';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.status).toBe(400);
    expect(String(error.fields.message)).toMatch(/^[^\n]{10,200}$/);
    return error.error;
  }
}

describe('the cost of a call', () => {
  it.each([
    ['vapi', '0.1234565', 123_457n],
    ['vapi', '1e-7', 0n],
    ['vapi', '0', 0n],
    ['vapi', '12.30', 12_300_000n],
    ['vapi', '0.00000049999999999999999999', 0n],
    ['retell', '2.25', 22_500n],
    ['retell', '100', 1_000_000n],
    ['retell', '0.00005', 1n],
    ['retell', '7.00000000000000001', 70_000n],
    ['bland', '0.041', 41_000n],
    ['pipecat', '0.0000005', 1n],
    ['livekit', '12500', 12_500n],
    ['livekit', '12500.0', 12_500n],
  ] as const)('a call at %s that costs %s is %s raw USDC', (provider, spelled, costRaw) => {
    expect(read(provider, BODIES[provider].replace('COST', spelled))?.costRaw).toBe(costRaw);
  });

  const bad = [
    '-0.5',
    '-0',
    '1e300',
    '1e999',
    '1000000.000001',
    '"0.5"',
    'null',
    'true',
    '[1]',
    '{}',
  ];
  it.each(
    (Object.keys(BODIES) as Provider[]).flatMap((provider) =>
      bad.map((spelled) => [provider, spelled] as const),
    ),
  )('a call at %s that costs %s is refused', (provider, spelled) => {
    // A million dollars and more: in cents and micros the same number is less.
    const scaled = spelled === '1000000.000001' ? '1000000000001' : spelled;
    expect(refusalOf(provider, BODIES[provider].replace('COST', scaled))).toBe('invalid_cost');
  });

  it.each([
    ['vapi', '{"message":{"type":"end-of-call-report","call":{"id":"c1"}}}'],
    ['retell', '{"event":"call_analyzed","call":{"call_id":"c1"}}'],
    ['bland', '{"call_id":"c1","completed":true}'],
    ['pipecat', '{"external_call_id":"c1"}'],
    ['pipecat', '{"external_call_id":"c1","cost_usd":1,"cost_micro_usdc":1000000}'],
    ['livekit', '{"external_call_id":"c1","cost_micro_usdc":0.5}'],
  ] as const)('a report of %s without one cost is refused', (provider, text) => {
    expect(refusalOf(provider, text)).toBe('invalid_cost');
  });
});

describe('the id of a call', () => {
  it.each([
    ['vapi', '{"message":{"type":"end-of-call-report","cost":1}}'],
    ['vapi', '{"message":{"type":"end-of-call-report","cost":1,"call":{"id":7}}}'],
    ['retell', '{"event":"call_ended","call":{"call_cost":{"combined_cost":1}}}'],
    ['bland', '{"price":1}'],
    ['bland', `{"price":1,"call_id":"${'x'.repeat(257)}"}`],
    ['pipecat', '{"cost_usd":1}'],
    ['livekit', '{"cost_usd":1,"external_call_id":"  "}'],
    ['livekit', '{"cost_usd":1,"external_call_id":"a\\u0000b"}'],
  ] as const)('a report of %s without a good call id is refused: %s', (provider, text) => {
    expect(refusalOf(provider, text)).toBe('invalid_call_id');
  });
});

describe('a report', () => {
  it("Vapi's end-of-call-report, in the types of its SDK, gives cost, duration, tags and what its events need", () => {
    const message: Vapi.ServerMessageEndOfCallReport = {
      type: 'end-of-call-report',
      endedReason: 'customer-ended-call',
      cost: 0.0825,
      startedAt: '2026-08-11T12:00:00.000Z',
      endedAt: '2026-08-11T12:01:30.400Z',
      timestamp: 1_786_449_690_500,
      artifact: { transcript: 'AI: Hello.', recordingUrl: 'https://storage.vapi.ai/r.wav' },
      analysis: {
        summary: 'They said hello.',
        successEvaluation: 'true',
        structuredData: { a: 1 },
      },
      call: {
        id: 'call-7',
        orgId: 'org',
        createdAt: '2026-08-11T12:00:00.000Z',
        updatedAt: '2026-08-11T12:00:00.000Z',
        assistantOverrides: { metadata: { svc_task_id: ' Task-9 ' } },
      },
      assistant: { metadata: { svc_task_id: 'other', svc_customer_id: 'acme' } },
    };
    expect(read('vapi', JSON.stringify({ message }))).toEqual({
      callId: 'call-7',
      costRaw: 82_500n,
      rank: 1,
      saidAtMs: 1_786_449_690_500,
      durationSeconds: 90,
      taskId: 'task-9',
      customerId: 'acme',
      summary: 'They said hello.',
      transcript: 'AI: Hello.',
      recordingUrl: 'https://storage.vapi.ai/r.wav',
      analysis: { success: true, structuredData: { a: 1 }, sentiment: null },
    });
  });

  it('a report of Retell after its analysis ranks behind that of the end', () => {
    const call = {
      call_id: 'r1',
      duration_ms: 61_500,
      metadata: { svc_task_id: 't', svc_customer_id: 5 },
      call_cost: { combined_cost: 12.5, total_duration_seconds: 61, product_costs: [] },
      call_analysis: { call_summary: 's', call_successful: false, user_sentiment: 'Negative' },
    };
    const ranks = ['call_ended', 'call_analyzed'].map(
      (event) => read('retell', JSON.stringify({ event, call }))?.rank,
    );
    expect(ranks).toEqual([1, 2]);
    expect(read('retell', JSON.stringify({ event: 'call_analyzed', call }))).toMatchObject({
      costRaw: 125_000n,
      durationSeconds: 61,
      taskId: 't',
      customerId: '5',
      analysis: { success: false, sentiment: 'Negative' },
    });
  });

  it.each([
    ['vapi', '{"message":{"type":"status-update","call":{"id":"c"}}}'],
    ['vapi', '{}'],
    ['vapi', '{"message":[]}'],
    ['retell', '{"event":"call_started","call":{"call_id":"c"}}'],
    ['retell', '{"event":{}}'],
    ['bland', '{"call_id":"c","category":"tool"}'],
  ] as const)('another event of %s is no report: %s', (provider, text) => {
    expect(read(provider, text)).toBeUndefined();
  });
});
