import {
  callEvent,
  DONE,
  deltaEvent,
  finishEvent,
  type StreamScript,
  textEvent,
  usageEvent,
  wholeAnswer,
} from './stream-upstream.ts';

/**
 * What a vendor makes of thoughts. `switched`: it thinks unless it is told not to, and demands its thoughts back while it
 * does, as DeepSeek. `always`: it also refuses to be told so, as Kimi for code. `strict`: it thinks, and refuses what no chat of
 * OpenAI has, as Groq.
 */
export type Vendor = 'switched' | 'always' | 'strict';

type Message = {
  readonly role?: string;
  readonly content?: unknown;
  readonly reasoning_content?: unknown;
  readonly tool_calls?: readonly unknown[];
};

type Asked = {
  readonly messages?: readonly Message[];
  readonly reasoning_effort?: unknown;
  readonly stream?: unknown;
  readonly thinking?: { readonly type?: string };
};

export const THOUGHTS = { call: 'Rome, so I look it up.', words: 'It is 21 there.' };
export const SAID = 'Warm: 21 degrees.';
export const CITY = { city: 'Rome' };

/** A vendor whose model calls `weather` at each word of the user, and speaks when it has the result. */
export const thinkingVendor =
  (vendor: Vendor) =>
  (body: object): StreamScript => {
    const asked = body as Asked;
    const refusal = refusalOf(vendor, asked);
    if (refusal !== undefined) {
      const error = { message: refusal, type: 'invalid_request_error' };
      const headers = { 'content-type': 'application/json' };
      return { status: 400, headers, pieces: [JSON.stringify({ error })] };
    }
    const { messages = [], stream, thinking } = asked;
    const kind = messages.at(-1)?.role === 'tool' ? 'words' : 'call';
    const reasoning = thinking?.type === 'disabled' ? undefined : THOUGHTS[kind];
    const id = `call_${messages.length}`;
    return stream === true ? streamed(kind, reasoning, id) : whole(kind, reasoning, id);
  };

const takesBack = ({ reasoning_content: thoughts, tool_calls: calls }: Message): boolean =>
  calls === undefined || (typeof thoughts === 'string' && thoughts !== '');

function refusalOf(vendor: Vendor, asked: Asked): string | undefined {
  const { messages = [], reasoning_effort: effort, thinking } = asked;
  if (vendor === 'strict') {
    const isStrange = messages.some((message) => 'reasoning_content' in message);
    return isStrange || thinking !== undefined ? 'a property is unsupported' : undefined;
  }
  if (thinking?.type === 'disabled') {
    if (vendor === 'always') return 'this model only thinks';
    return effort === undefined ? undefined : 'an effort without thinking';
  }
  return messages.every(takesBack)
    ? undefined
    : 'The reasoning_content in the thinking mode must be passed back to the API.';
}

type Kind = keyof typeof THOUGHTS;

const callOf = (id: string) => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: JSON.stringify(CITY) },
});

const whole = (kind: Kind, reasoning_content: string | undefined, id: string): StreamScript => {
  const said = kind === 'call' ? { content: null, tool_calls: [callOf(id)] } : { content: SAID };
  return wholeAnswer({ ...said, ...(reasoning_content && { reasoning_content }) });
};

function streamed(kind: Kind, reasoning: string | undefined, id: string): StreamScript {
  const thought = reasoning === undefined ? [] : [reasoning.slice(0, 4), reasoning.slice(4)];
  const thoughts = thought.map((reasoning_content) => deltaEvent({ reasoning_content }));
  const call = callOf(id);
  const said =
    kind === 'call'
      ? [callEvent(0, call.function, call), finishEvent('tool_calls')]
      : [textEvent(SAID), finishEvent('stop')];
  return { pieces: [deltaEvent({ role: 'assistant' }), ...thoughts, ...said, usageEvent(), DONE] };
}
