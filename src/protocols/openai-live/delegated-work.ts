import type { TurnCause } from '../../../machines/voice-turn.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { AnswerReceipt } from '../../voice/session/answer-request.ts';
import type { ConversationItem } from '../../voice/session/conversation.ts';
import type { Delegation } from './delegation.ts';
import type { LiveSender } from './live-sender.ts';

type Call = Extract<ConversationItem, { type: 'function_call' }>;
type Fields = Readonly<Record<string, unknown>>;

/**
 * Work that one answer delegates. An application that does the work itself (`client`) gets the id of a delegation. When the
 * session's model has the application's tools (`responses`), the application gets tool calls as events of a Responses stream.
 */
export class DelegatedWork {
  readonly #sender: LiveSender;
  readonly #random: Random;
  readonly #target: Delegation['type'];
  readonly #responseId: string;
  readonly #offsetMs: () => number;
  readonly #output: Fields[] = [];
  #delegationId: string | undefined;
  #sequence = 0;

  constructor(options: {
    readonly sender: LiveSender;
    readonly random: Random;
    readonly target: Delegation['type'];
    readonly responseId: string;
    /** Returns the milliseconds since the session began. */
    readonly offsetMs: () => number;
  }) {
    this.#sender = options.sender;
    this.#random = options.random;
    this.#target = options.target;
    this.#responseId = options.responseId;
    this.#offsetMs = options.offsetMs;
  }

  get isBegun(): boolean {
    return this.#delegationId !== undefined;
  }

  call(item: Call): void {
    this.#open();
    if (this.#target === 'client') return;
    const at = { output_index: this.#output.length, item_id: item.id };
    const shown = {
      id: item.id,
      type: 'function_call',
      status: 'completed',
      call_id: item.callId,
      name: item.name,
      arguments: item.arguments,
    };
    const { output_index } = at;
    this.#stream('response.output_item.added', {
      output_index,
      item: { ...shown, status: 'in_progress', arguments: '' },
    });
    this.#stream('response.function_call_arguments.delta', { ...at, delta: item.arguments });
    this.#stream('response.function_call_arguments.done', {
      ...at,
      name: item.name,
      arguments: item.arguments,
    });
    this.#stream('response.output_item.done', { output_index, item: shown });
    this.#output.push(shown);
  }

  /** Reports the end of the answer, which is in the journal. */
  done(cause: TurnCause | undefined, receipt: AnswerReceipt | undefined): void {
    if (this.#delegationId === undefined || this.#target === 'client') return;
    const { cachedIn = 0, textIn = 0, textOut = 0 } = receipt?.tokens ?? {};
    const status =
      cause === undefined ? 'completed' : cause.kind === 'failed' ? 'failed' : 'incomplete';
    this.#stream(`response.${status}`, {
      response: {
        ...this.#response(status),
        usage: {
          input_tokens: textIn,
          input_tokens_details: { cached_tokens: cachedIn },
          output_tokens: textOut,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: textIn + textOut,
        },
      },
    });
  }

  #open(): void {
    if (this.#delegationId !== undefined) return;
    const id = newId(this.#random, 'delegation_');
    this.#delegationId = id;
    const target = this.#target;
    this.#sender.send('session.delegation.created', {
      delegation: {
        id,
        type: 'delegation',
        target,
        ...(target === 'responses' && { response_id: this.#responseId }),
      },
      offset_ms: this.#offsetMs(),
    });
    if (target === 'client') return;
    this.#stream('response.created', { response: this.#response('in_progress') });
  }

  #stream(type: string, fields: Fields): void {
    const event = { type, sequence_number: this.#sequence++, ...fields };
    this.#sender.send('response.event', { delegation_id: this.#delegationId, event });
  }

  /** Returns a snapshot of the response. Its output is empty, because earlier events contained the output. */
  #response(status: string): Fields {
    return { id: this.#responseId, object: 'response', status, output: [] };
  }
}
