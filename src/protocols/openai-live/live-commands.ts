import { LIVE_APPEND } from '../../../media/message/sound-message.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { EventAllowance } from '../../voice/live/event-allowance.ts';
import { TOO_MANY_EVENTS } from '../../voice/live/voice-endings.ts';
import { type ConversationItem, writtenMessage } from '../../voice/session/conversation.ts';
import { scriptedAnswer } from '../../voice/session/scripted-llm.ts';
import type { VoiceSession } from '../../voice/session/voice-session.ts';
import { type EventProblem, eventIdOf } from '../openai-realtime/client-event.ts';
import { readAppend } from '../openai-realtime/read-append.ts';
import type { Acknowledgement } from './acknowledgement.ts';
import { silenceLike } from './audio-format.ts';
import {
  type BackendItem,
  type LiveClientEvent,
  readLiveClientEvent,
  readRawEvent,
} from './client-event.ts';
import { type Delegation, delegatedConfig, updateDelegation } from './delegation.ts';
import { LIVE_LIMITS } from './limits.ts';
import { CLOSE_REQUESTED, type LiveSender } from './live-sender.ts';

export type LiveCommandDeps = {
  readonly allowance: EventAllowance;
  readonly random: Random;
  readonly sender: LiveSender;
  readonly session: VoiceSession;
  readonly acknowledgement: Acknowledgement;
  readonly instructions: string;
  readonly delegation: Delegation;
  /** Returns the milliseconds since the session began. */
  readonly sinceMs: () => number;
  /** Returns the session object as its client sees it. */
  readonly render: () => Readonly<Record<string, unknown>>;
};

const NO_BACKEND: EventProblem = {
  code: 'invalid_value',
  message: 'This session delegates to its application: it has no backend.',
  param: 'type',
};

const NO_APPLICATION: EventProblem = {
  code: 'invalid_value',
  message: 'delegation_id: is null in a session with a backend.',
  param: 'delegation_id',
};

/** Executes the events of a live session's client. An invalid event gets an `error`; the session continues. */
export class LiveCommands {
  readonly #deps: LiveCommandDeps;
  readonly #session: VoiceSession;
  #delegation: Delegation;
  #isMuted = false;
  /** Texts to speak after the answer in progress. */
  readonly #commentaries: string[] = [];
  /** True when the application has requested an answer that begins after the acknowledgement in progress. */
  #isAnswerDue = false;

  constructor(deps: LiveCommandDeps) {
    this.#deps = deps;
    this.#session = deps.session;
    this.#delegation = deps.delegation;
  }

  get delegation(): Delegation {
    return this.#delegation;
  }

  /** Handles a frame that arrived at `nowMs`. The caller may reuse its bytes after this returns. */
  handle(frame: Uint8Array, nowMs: number): void {
    const { allowance, sender } = this.#deps;
    if (!allowance.take(nowMs)) {
      this.#session.fail(TOO_MANY_EVENTS);
      return;
    }
    const sound = readAppend(frame, LIVE_APPEND);
    const refused = sound && this.#hear(sound, nowMs);
    if (sound !== undefined && refused === undefined) return;
    const text = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString('utf8');
    const read = readRawEvent(text);
    if (refused !== undefined) {
      sender.refuse({ ...refused, eventId: 'raw' in read ? eventIdOf(read.raw) : null });
      return;
    }
    const parsed = 'problem' in read ? read : readLiveClientEvent(read.raw);
    if ('problem' in parsed) {
      sender.refuse(parsed.problem);
      return;
    }
    const problem = this.#apply(parsed.event, nowMs);
    if (problem !== undefined) {
      sender.refuse({ ...problem, eventId: parsed.event.event_id ?? null });
    }
  }

  /**
   * Handles the end of an answer: speaks the next waiting message. `hasDelegatedSilently` is true when the answer delegated
   * work without words.
   */
  answerDone(hasDelegatedSilently: boolean): void {
    const { acknowledgement } = this.#deps;
    acknowledgement.answerDone();
    if (hasDelegatedSilently)
      acknowledgement.delegated(this.#delegation.acknowledgement_delay_ms ?? 0);
    if (this.#isAnswerDue) this.#respond();
    this.#speakNext();
    acknowledgement.speak();
  }

  #speakNext(): void {
    const [text] = this.#commentaries;
    if (text === undefined || this.#session.isOver) return;
    const problem = this.#session.respond(scriptedAnswer(this.#session.config, text));
    // The answer in progress, or the answer that is due, comes first.
    if (problem === undefined) this.#commentaries.shift();
  }

  #apply(event: LiveClientEvent, nowMs: number): EventProblem | undefined {
    const { acknowledgement, sender, sinceMs } = this.#deps;
    const acknowledge = (type: string) => {
      const atMs = sinceMs();
      sender.answer(type, event.event_id, { start_ms: atMs, end_ms: atMs });
    };
    if ('delegation_id' in event && event.delegation_id !== null) {
      if (this.#delegation.type === 'responses') return NO_APPLICATION;
    }
    switch (event.type) {
      case 'session.update':
        return this.#update(event);
      case 'session.input_audio.append':
        return this.#append(event.audio, nowMs);
      case 'session.input_audio.mute':
      case 'session.input_audio.unmute':
        this.#isMuted = event.type === 'session.input_audio.mute';
        sender.answer(`${event.type}d`, event.event_id);
        return undefined;
      case 'session.instructions.append':
      case 'session.thinking.append':
        if (event.type === 'session.thinking.append') acknowledgement.cancel();
        this.#addText('system', event.content);
        acknowledge(event.type.replace('.append', '.appended'));
        return undefined;
      case 'session.commentary.append':
        if (this.#commentaries.length >= LIVE_LIMITS.commentaries) return TOO_MANY_TEXTS;
        acknowledge('session.commentary.appended');
        this.#commentaries.push(event.content);
        acknowledgement.cancel();
        this.#speakNext();
        return undefined;
      case 'response.item.create':
        return this.#addBackendItem(event.item);
      case 'response.create':
        return this.#respond();
      case 'session.close':
        this.#session.fail(CLOSE_REQUESTED);
        return undefined;
    }
  }

  #update({ event_id, session }: Extract<LiveClientEvent, { type: 'session.update' }>) {
    const { instructions, render, sender } = this.#deps;
    const wanted = session.delegation;
    if (wanted === null && this.#delegation.type === 'responses') return FIXED_DELEGATION;
    if (wanted !== undefined && wanted !== null) {
      const delegation = updateDelegation(this.#delegation, wanted);
      if (delegation === undefined) return FIXED_DELEGATION;
      this.#delegation = delegation;
      this.#session.configure(delegatedConfig(this.#session.config, instructions, delegation));
    }
    sender.answer('session.updated', event_id, { session: render() });
    return undefined;
  }

  #append(base64: string, nowMs: number): EventProblem | undefined {
    const audio = Buffer.from(base64, 'base64');
    // The base64 decoder skips invalid characters, so too few bytes reveal them.
    if (audio.length < Math.floor((base64.length * 3) / 4) - 2) {
      return { code: 'invalid_value', message: 'audio is not base64.', param: 'audio' };
    }
    return this.#hear(audio, nowMs);
  }

  /** Appends audio to the session. A muted client's audio becomes silence, so that an utterance in progress ends. */
  #hear(sound: Uint8Array, nowMs: number): EventProblem | undefined {
    const { inputFormat } = this.#session.config;
    return this.#session.append(this.#isMuted ? silenceLike(sound, inputFormat) : sound, nowMs);
  }

  #addText(role: 'system' | 'user' | 'assistant', text: string): void {
    const id = newId(this.#deps.random, 'item_');
    this.#session.conversation.add(writtenMessage(id, role, text));
  }

  #addBackendItem(item: BackendItem): EventProblem | undefined {
    if (this.#delegation.type !== 'responses') return NO_BACKEND;
    if (item.type !== 'function_call_output') {
      const { content, role } = item;
      this.#addText(role === 'developer' ? 'system' : role, textOf(content));
      return undefined;
    }
    const { conversation } = this.#session;
    if (!conversation.hasCall(item.call_id)) {
      const message = `No tool was called as "${item.call_id}" in this session.`;
      return { code: 'invalid_tool_call_id', message, param: 'item.call_id' };
    }
    const output: ConversationItem = {
      id: newId(this.#deps.random, 'item_'),
      type: 'function_call_output',
      status: 'completed',
      callId: item.call_id,
      output: textOf(item.output),
    };
    conversation.add(output);
    return undefined;
  }

  #respond(): EventProblem | undefined {
    if (this.#delegation.type !== 'responses') return NO_BACKEND;
    const { acknowledgement } = this.#deps;
    acknowledgement.cancel();
    this.#isAnswerDue = acknowledgement.isAsked;
    if (this.#isAnswerDue) return undefined;
    const { config } = this.#session;
    return this.#session.respond({ config, metadata: {}, isInConversation: true });
  }
}

const textOf = (content: string | readonly { readonly text: string }[]): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('\n');

const TOO_MANY_TEXTS: EventProblem = {
  code: 'rate_limit_exceeded',
  message: `At most ${LIVE_LIMITS.commentaries} texts may wait to be spoken.`,
  param: 'content',
};

const FIXED_DELEGATION: EventProblem = {
  code: 'invalid_value',
  message: 'session.delegation: its type and its model cannot change.',
  param: 'session.delegation',
};
