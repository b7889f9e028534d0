import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import type { Json } from '../../../kernel/json.ts';
import type { AnswerSource } from '../../dialects/answer-event.ts';
import { tellCompletion } from '../../dialects/chat-reader.ts';
import { WrittenStream } from '../../dialects/written-stream.ts';
import type { ChatCompletion, TokenUsage } from '../../providers/chat-rail.ts';
import { responseUsage } from '../../providers/responses/response-usage.ts';
import type { ResponseEvents, WholeResponse } from '../../providers/responses/responses-rail.ts';
import type { ResponseHead } from '../response-head.ts';
import { ResponseWriter } from './response-writer.ts';
import type { ToolNames } from './tool-names.ts';

export type Translation = {
  readonly head: ResponseHead;
  /** Name of the model in the response. */
  readonly model: string;
  readonly newItemId: (prefix: string) => string;
  /** Caller's tools, by their names in chat. */
  readonly names: ToolNames;
  /** Estimates the usage of an answer of `answerChars` characters, for an upstream that reports none. */
  readonly estimate: (answerChars: number) => TokenUsage;
};

/** Translates a whole chat answer to a response. Undefined when it is no completion. */
export async function translateCompletion(
  completion: ChatCompletion,
  { signsCalls, ...translation }: Translation & { readonly signsCalls?: boolean | undefined },
): Promise<WholeResponse | undefined> {
  const { answerChars, note, usage } = completion;
  const told = completion.json ?? (await readJson(completion.body));
  const writer = new ResponseWriter({ ...translation, isStream: false });
  try {
    if (!tellCompletion(told, { signsCalls }, (event) => writer.write(event))) return undefined;
    writer.finish();
  } catch {
    return undefined;
  }
  const used = writer.usage ?? responseUsage(translation.estimate(answerChars));
  return { response: writer.response(used), echo: writer.echo, usage, answerChars, note };
}

function readJson(body: Uint8Array): Promise<unknown> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return parseJsonInTurns(bytes, JSON_LIMITS.upstream).catch(() => undefined);
}

/** Writes the answer of an upstream of another dialect as the events of a response. */
export class TranslatedResponse extends WrittenStream implements ResponseEvents {
  readonly #writer: ResponseWriter;
  readonly #estimate: Translation['estimate'];

  constructor(source: AnswerSource, translation: Translation) {
    const writer = new ResponseWriter({ ...translation, isStream: true });
    super(source, writer);
    this.#writer = writer;
    this.#estimate = translation.estimate;
  }

  response(): Json {
    const { answerChars, usage } = this.metered();
    const used = () => responseUsage(usage ?? this.#estimate(answerChars));
    return this.#writer.response(this.#writer.usage ?? used());
  }

  get echo(): string {
    return this.#writer.echo;
  }

  sequence(): number {
    return this.#writer.sequence;
  }
}
