import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import { expect, it } from 'vitest';
import type { ResponsesRequest } from '../../../../../src/models/responses/responses-request.ts';
import { Misfits } from '../../../../../src/models/responses/translate/misfit.ts';
import { noteMembers } from '../../../../../src/models/responses/translate/request-members.ts';

/** Every member that the client of OpenAI knows, with a value that asks for something, and whether chat can do without. */
const MEMBERS: Readonly<
  Record<keyof ResponseCreateParams, readonly ['served' | 'left out' | 'refused', unknown]>
> = {
  background: ['served', false],
  context_management: ['refused', [{ type: 'compaction' }]],
  conversation: ['served', 'conv_1'],
  include: ['served', ['reasoning.encrypted_content']],
  input: ['served', 'x'],
  instructions: ['served', 'x'],
  max_output_tokens: ['served', 9],
  metadata: ['left out', { a: 'b' }],
  model: ['served', 'm'],
  moderation: ['refused', { model: 'omni-moderation-latest' }],
  parallel_tool_calls: ['served', false],
  previous_response_id: ['served', 'resp_1'],
  prompt: ['refused', { id: 'pmpt_1' }],
  prompt_cache_key: ['served', 'x'],
  prompt_cache_options: ['left out', { mode: 'explicit' }],
  prompt_cache_retention: ['left out', '24h'],
  reasoning: ['served', { effort: 'low', summary: 'auto', context: 'all_turns' }],
  safety_identifier: ['served', 'x'],
  service_tier: ['served', 'flex'],
  store: ['served', true],
  stream: ['served', true],
  stream_options: ['left out', { include_obfuscation: false }],
  temperature: ['served', 1],
  text: ['served', { verbosity: 'low' }],
  tool_choice: ['served', 'auto'],
  tools: ['served', []],
  top_logprobs: ['served', 1],
  top_p: ['served', 1],
  truncation: ['refused', 'auto'],
  user: ['served', 'x'],
};

it.each(Object.entries(MEMBERS))('%s is not dropped where it promises something', (name, how) => {
  const [fate, value] = how;
  const noted = (member: unknown) => {
    const misfits = new Misfits();
    noteMembers({ model: 'm', [name]: member } as ResponsesRequest, misfits);
    return misfits.first?.param;
  };
  expect(noted(value)).toBe(fate === 'refused' ? name : undefined);
  expect(noted(null)).toBeUndefined();
});

it('what Codex tells of itself is left out', () => {
  const misfits = new Misfits();
  noteMembers({ model: 'm', client_metadata: { a: 'b' }, max_tool_calls: 3 }, misfits);
  expect(misfits.first).toBeUndefined();
});
