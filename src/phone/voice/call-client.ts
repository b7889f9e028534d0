import type { Ending } from '../../../machines/transcription-stream.ts';
import type { TurnCause } from '../../../machines/voice-turn.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { AnswerRequest } from '../../voice/session/answer-request.ts';
import type { AddedItem, ConversationItem } from '../../voice/session/conversation.ts';
import type {
  AnswerClient,
  Played,
  UtteranceEnd,
  VoiceClient,
} from '../../voice/session/voice-client.ts';
import type { Heard } from '../../voice/stt/transcriber-events.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { CallLine } from './line/call-line.ts';

/** Labels of an answer, copied from the request for it. */
export type AnswerLabels = AnswerRequest['metadata'];

/** A function call of the model; `problem` is a sentence for the model when its arguments cannot be used. */
export type ActionItem = Extract<ConversationItem, { type: 'function_call' }> & {
  readonly problem?: string;
};

/** Events of a voice session that its call handles. */
export type CallEvents = {
  readonly speechStarted: (itemId: string) => void;
  /** Called when turn detection has found the end of an utterance, before its words. */
  readonly utteranceEnded: () => void;
  readonly interim: (itemId: string, text: string) => void;
  /** Words of the answer in progress. */
  readonly words: (text: string) => void;
  /** Called when an utterance is dropped because it has no words. */
  readonly forgotten: (itemId: string) => void;
  readonly heard: (itemId: string, heard: Heard) => void;
  /** Returns true when the words that were heard last ask for an answer. */
  readonly isAddressed: () => boolean;
  readonly transcriberFailed: (error: Error) => void;
  readonly answerBegan: (answerId: string, labels: AnswerLabels) => void;
  /** Called when the answer requests an action of the call. */
  readonly action: (item: ActionItem) => void;
  /** Runs with all words of an answer that were sent. */
  readonly said: (text: string, itemId: string) => void;
  readonly answerDone: (cause: TurnCause | undefined, labels: AnswerLabels) => void;
  /** Runs at the end of the session; `heardOut` must be called once the peer has heard the last words, or is gone. */
  readonly ended: (ending: Ending, heardOut: () => void) => void;
};

/** Client of a call's voice session: sends the answers to the peer on the call's line. */
export class CallClient implements VoiceClient {
  readonly turnMs = PHONE_LIMITS.call.turnMs;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #line: CallLine;
  readonly #events: CallEvents;
  /** Resolves once the peer has heard the last words, or is gone. */
  readonly heardOut: Promise<void>;
  #heardOutNow = () => {};
  /** Item id of the message that is being spoken and is not complete yet. */
  #openItemId: string | undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly random: Random;
    readonly line: CallLine;
    readonly events: CallEvents;
  }) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#line = options.line;
    this.#events = options.events;
    this.heardOut = new Promise((resolve) => {
      this.#heardOutNow = resolve;
    });
  }

  /** Returns the present time, because a line is never idle: its silence is sound as well. */
  get lastEventAtMs(): number {
    return this.#clock.monotonicMs();
  }

  get isSounding(): boolean {
    return this.#line.isSounding;
  }

  batch(work: () => void): void {
    this.#line.batch(work);
  }

  get hasRoom(): boolean {
    return this.#line.hasRoom;
  }

  room(signal: StopSignal): Promise<void> {
    return this.#line.room(signal);
  }

  speechStarted(itemId: string): void {
    this.#events.speechStarted(itemId);
  }

  get firstSoundAtMs(): number | undefined {
    return this.#line.firstSoundAtMs;
  }

  utterance(_: AddedItem, end: UtteranceEnd): void {
    if (end.kind !== 'silent') this.#events.utteranceEnded();
  }

  interim(itemId: string, text: string): void {
    this.#events.interim(itemId, text);
  }

  forgotten(itemId: string): void {
    this.#events.forgotten(itemId);
  }

  transcript(itemId: string, heard: Heard): void {
    this.#events.heard(itemId, heard);
  }

  isAddressed(): boolean {
    return this.#events.isAddressed();
  }

  transcriberFailed(error: Error): void {
    this.#events.transcriberFailed(error);
  }

  createAnswer({ metadata }: AnswerRequest): AnswerClient {
    let itemId = '';
    const id = newId(this.#random, 'answer_');
    return {
      id,
      created: () => {
        this.#line.firstSoundAtMs = undefined;
        this.#events.answerBegan(id, metadata);
      },
      itemAdded: ({ item }) => {
        itemId = item.id;
        if (item.type === 'message') this.#openItemId = itemId;
      },
      text: (delta) => this.#events.words(delta),
      audio: (bytes) => this.#line.play(itemId, bytes),
      itemDone: (item) => {
        this.#openItemId = undefined;
        if (item.type === 'function_call') this.#events.action(item);
        else if (item.type === 'message') this.#events.said(wordsOf(item), item.id);
      },
      callBroken: (item, problem) => this.#events.action({ ...item, problem }),
      done: (cause) => this.#events.answerDone(cause, metadata),
    };
  }

  clearPlayback(): readonly Played[] {
    return this.#line.clearPlayback(this.#openItemId);
  }

  end(ending: Ending): void {
    this.#events.ended(ending, this.#heardOutNow);
  }
}

const wordsOf = ({ content }: Extract<ConversationItem, { type: 'message' }>): string =>
  content
    .map((part) => (part.type === 'speech' ? (part.transcript ?? '') : ''))
    .join(' ')
    .trim();
