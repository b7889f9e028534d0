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
  it('a response has the default values of members that its request leaves out or sets to null', () => {
    expect(echoOf({})).toEqual(UNSAID);
    const nothing = Object.fromEntries(Object.keys(UNSAID).map((member) => [member, null]));
    expect(echoOf(nothing)).toEqual(UNSAID);
  });

  it('a response repeats its request’s members and completes reasoning and text', () => {
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

  it('a Responses request is refused when its response would repeat more than a mebibyte', () => {
    const tools = Array.from({ length: 100 }, (_, at) => ({
      type: 'function',
      name: `a${at}`,
      description: 'ä'.repeat(6_000),
    }));
    expect(() => echoOf({ tools })).toThrow('invalid_request');
    expect(() => echoOf({ tools: tools.slice(0, 80) })).not.toThrow();
  });
});
