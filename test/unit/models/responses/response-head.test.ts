import { describe, expect, it } from 'vitest';
import { headOf } from '../../../../src/models/responses/response-head.ts';
import { ResponsesRequest } from '../../../../src/models/responses/responses-request.ts';

const BEGUN = { id: 'resp_1', createdSec: 1, isKept: true };

const echoOf = (request: object): unknown =>
  JSON.parse(`{${headOf(ResponsesRequest.parse({ model: 'm', ...request }), BEGUN).echo()}}`);

/** What a response shows of a request that says nothing of it. */
const UNSAID = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  user: null,
  metadata: {},
};

describe('the head of a response', () => {
  it('repeats a request that says nothing, or null', () => {
    expect(echoOf({})).toEqual(UNSAID);
    const nothing = Object.fromEntries(Object.keys(UNSAID).map((member) => [member, null]));
    expect(echoOf(nothing)).toEqual(UNSAID);
  });

  it('repeats what a request says, and fills in what is left of its thoughts and its text', () => {
    const said = {
      instructions: 'Say "a\\b".\n',
      max_output_tokens: 12,
      parallel_tool_calls: false,
      tools: [{ type: 'function', name: 'a' }],
      tool_choice: 'required',
      metadata: { a: 'b' },
      temperature: 0,
      top_p: 0,
      top_logprobs: 3,
      truncation: 'auto',
      user: '',
    };
    const format = { type: 'json_object' };
    expect(echoOf({ ...said, reasoning: { effort: 'low' }, text: { verbosity: 'low' } })).toEqual({
      ...UNSAID,
      ...said,
      reasoning: { effort: 'low', summary: null },
      text: { verbosity: 'low', format: { type: 'text' } },
    });
    expect(echoOf({ text: { format } })).toEqual({ ...UNSAID, text: { format } });
  });

  it('refuses a request of which a response would repeat more than a mebibyte', () => {
    const tools = Array.from({ length: 100 }, (_, at) => ({
      type: 'function',
      name: `a${at}`,
      description: 'ä'.repeat(6_000),
    }));
    expect(() => echoOf({ tools })).toThrow('invalid_request');
    expect(() => echoOf({ tools: tools.slice(0, 80) })).not.toThrow();
  });
});
