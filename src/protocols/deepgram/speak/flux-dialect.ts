import { bytesPerMs, type SoundFormat } from '../../../../media/coding.ts';
import { assert } from '../../../kernel/assert.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { type Random, randomHex } from '../../../kernel/random.ts';
import { DEEPGRAM_LIMITS } from '../limits.ts';
import { speedProblem } from './flux-settings.ts';
import type { Sentence, SpeakControls, SpeakDialect } from './speak-dialect.ts';
import { SpeechTurn } from './speech-turn.ts';

type FluxInput = {
  readonly random: Random;
  /** Format of the audio that the client receives. */
  readonly format: SoundFormat;
  readonly speed: number | undefined;
  /** The first message to the client. */
  readonly connected: Json;
};

const { messageChars } = DEEPGRAM_LIMITS;
const { turnChars: speakTurnChars } = DEEPGRAM_LIMITS.speak;
const MESSAGES = 'A message is Speak, Flush, Interrupt, Configure or Close.';
const FIELD_CHARS = 64;

/**
 * The protocol of `/v2/speak`: https://developers.deepgram.com/docs/flux-tts/state. The texts that a client sends up to a
 * `Flush` are one turn. The session speaks one turn at a time and sends its sound between `SpeechStarted` and `SpeechMetadata`.
 * An `Interrupt` ends all turns; `SpeechInterrupted` reports how much the client has heard of the turn that was playing.
 */
export class FluxDialect implements SpeakDialect {
  readonly #controls: SpeakControls;
  readonly #input: FluxInput;
  #speed: number | undefined;
  /** The turn that is being spoken, and after it the turns that wait. */
  #turns: SpeechTurn[] = [];
  /** Turns whose audio was sent whole and that the client may still be playing. Their texts are bounded by `speakTurnChars`. */
  #spoken: SpeechTurn[] = [];
  /** End of the last turn that was removed from `#spoken`, in milliseconds of the session's sound. */
  #forgottenMs = 0;
  /** Milliseconds of audio that the session has sent, less the audio that the client skipped by interrupting. */
  #soundMs = 0;
  #hasSounded = false;
  /** `playback_offset` of the last `Interrupt`, in milliseconds; -1 before the first. */
  #playedMs = -1;
  #isInterrupting = false;
  #totals = { input: 0, billed: 0, chargedRaw: 0n };

  constructor(controls: SpeakControls, input: FluxInput) {
    this.#controls = controls;
    this.#input = input;
    this.#speed = input.speed;
  }

  opened(): void {
    this.#controls.say(this.#input.connected);
  }

  read(message: Json | undefined, data: string | Uint8Array): void {
    if (message?.type === 'Speak') this.#speak(message.text);
    else if (message?.type === 'Flush') this.#flush();
    else if (message?.type === 'Interrupt') this.#interrupt(message.playback_offset);
    else if (message?.type === 'Configure') this.#configure(message);
    else if (message?.type === 'Close') this.#controls.finish({ code: 1000, reason: 'done' });
    else this.#misread(data);
  }

  warning(code: string, description: string): Json {
    return { type: 'Warning', code, description };
  }

  begin(text: string): Sentence {
    const turn = this.#turns[0];
    assert(turn !== undefined, 'a sentence has a turn');
    const { bought, ended, sounded } = turn.begin(text, this.#soundMs);
    return {
      bought: (characters, chargedRaw) => {
        this.#totals.billed += characters;
        this.#totals.chargedRaw += chargedRaw;
        bought(characters, chargedRaw);
      },
      sent: (bytes) => {
        const ms = bytes / bytesPerMs(this.#input.format);
        this.#hasSounded = true;
        this.#soundMs += ms;
        sounded(ms);
      },
      ended,
    };
  }

  ending(): void {
    // Closing the session ends a turn that the client has not flushed.
    if (this.#turns.length > 0) this.#endTurn();
    const { billed, chargedRaw, input } = this.#totals;
    this.#controls.say({
      type: 'SessionMetadata',
      total_audio_duration_ms: Math.round(this.#soundMs),
      total_input_character_count: input,
      total_billable_character_count: billed,
      cost_usdc: chargedRaw.toString(),
    });
  }

  #speak(text: unknown): void {
    if (!this.#controls.mayTake(text)) return;
    const last = this.#turns.at(-1);
    const isNew = last === undefined || last.isFlushed;
    const turn = isNew ? new SpeechTurn(`dg_sp_${randomHex(this.#input.random, 6)}`) : last;
    if (!turn.hasRoom(text)) {
      const description = `A turn has at most ${speakTurnChars} characters; Flush ends it.`;
      this.#controls.warn('TURN_TOO_LONG', description);
      return;
    }
    this.#totals.input += turn.add(text);
    if (isNew) this.#turns.push(turn);
    if (isNew && this.#turns.length === 1) this.#startTurn();
    this.#controls.take(text);
  }

  #flush(): void {
    const turn = this.#turns.at(-1);
    if (turn === undefined || turn.isFlushed) {
      this.#controls.warn('NO_ACTIVE_SPEECH', 'There is no text to flush.');
    } else if (this.#controls.mayFlush()) {
      turn.isFlushed = true;
      this.#controls.say({ type: 'Flushed', speech_id: turn.id });
      this.#controls.flush(() => this.#endTurn());
    }
  }

  #startTurn(): void {
    const turn = this.#turns[0];
    if (turn === undefined || this.#isInterrupting) return;
    this.#controls.say({ type: 'SpeechStarted', speech_id: turn.id });
  }

  #endTurn(): void {
    const turn = this.#turns.shift();
    assert(turn !== undefined, 'a turn that ends was spoken');
    if (!turn.hasSentences) {
      this.#controls.warn('NO_SYNTHESIZABLE_TEXT', 'The turn has no letter and no digit.');
    }
    this.#controls.say({ type: 'SpeechMetadata', ...turn.report() });
    if (turn.hasSentences) this.#keep(turn);
    this.#startTurn();
  }

  #keep(turn: SpeechTurn): void {
    this.#spoken.push(turn);
    let chars = this.#spoken.reduce((sum, { textLength }) => sum + textLength, 0);
    while (chars > speakTurnChars) {
      const oldest = this.#spoken.shift();
      if (oldest === undefined) return;
      chars -= oldest.textLength;
      this.#forgottenMs = oldest.endMs;
    }
  }

  #interrupt(offset: unknown): void {
    const toldMs = offset === undefined ? undefined : readOffset(offset);
    if (offset !== undefined && toldMs === undefined) {
      this.#refuse('DATA-0000', 'playback_offset is {"type":"time_ms","value":milliseconds}.');
    } else if (!this.#hasSounded) {
      this.#controls.warn('NO_AUDIO_GENERATED', 'There was no sound yet: nothing is interrupted.');
    } else if (this.#isInterrupting) {
      this.#controls.warn('INTERRUPT_IN_PROGRESS', 'One Interrupt is done at a time.');
    } else if (toldMs !== undefined && toldMs <= this.#playedMs) {
      const description = 'playback_offset must be beyond what the last Interrupt said was played.';
      this.#controls.warn('INVALID_INTERRUPT_OFFSET', description);
    } else this.#stopAt(toldMs);
  }

  #stopAt(toldMs: number | undefined): void {
    // A client cannot have played more sound than the session has sent.
    const playedMs = Math.min(toldMs ?? this.#soundMs, this.#soundMs);
    const turn = this.#turnAt(playedMs);
    if (turn === undefined) {
      this.#controls.warn('NO_ACTIVE_SPEECH', 'There is no speech to interrupt.');
      return;
    }
    const isKnown = toldMs !== undefined && playedMs >= this.#forgottenMs;
    const texts = isKnown ? turn.splitAt(playedMs) : undefined;
    this.#isInterrupting = true;
    this.#turns = [];
    this.#spoken = [];
    this.#playedMs = playedMs;
    this.#soundMs = playedMs;
    this.#controls.stop(() => {
      this.#isInterrupting = false;
      this.#controls.say({
        type: 'SpeechInterrupted',
        audio_played_ms: Math.round(playedMs),
        ...texts,
        metadata: turn.report(),
      });
      this.#startTurn();
    });
  }

  #turnAt(playedMs: number): SpeechTurn | undefined {
    const heard = this.#spoken.find(({ endMs }) => playedMs < endMs);
    return heard ?? this.#turns[0] ?? this.#spoken.at(-1);
  }

  #configure({ speed, type: _, ...others }: Json): void {
    const [fixed] = Object.keys(others);
    const isNumber = typeof speed === 'number';
    const problem =
      fixed === undefined
        ? speed !== undefined && speedProblem(isNumber ? speed : Number.NaN)
        : { code: 'FIELD_NOT_CONFIGURABLE', description: `${named(fixed)} is fixed.` };
    if (problem) {
      this.#controls.say({
        type: 'ConfigureFailure',
        ...(fixed === undefined && { field: 'speed' }),
        ...(fixed === undefined && isNumber && { value: speed }),
        ...problem,
      });
      return;
    }
    if (isNumber) {
      this.#speed = speed;
      this.#controls.setSpeed(speed);
    }
    const applied = this.#speed === undefined ? {} : { speed: this.#speed };
    this.#controls.say({ type: 'ConfigureSuccess', applied });
  }

  #misread(data: string | Uint8Array): void {
    if (typeof data !== 'string') this.#refuse('MESSAGE-0000', 'A message is text, and JSON.');
    else if (data.length <= messageChars) this.#refuse('DATA-0000', MESSAGES);
    else {
      const description = `A message has at most ${messageChars} characters.`;
      this.#controls.fail('BIG-0000', description, 1009);
    }
  }

  #refuse(code: string, description: string): void {
    this.#controls.fail(code, description, 1008);
  }
}

/** Returns a message's member for an error text, cut to `FIELD_CHARS`, because a member may be as long as the message. */
const named = (field: string): string => JSON.stringify(field.slice(0, FIELD_CHARS));

/** Returns the milliseconds that the client reports as played; undefined for an invalid offset. */
function readOffset(offset: unknown): number | undefined {
  if (!isObject(offset) || offset.type !== 'time_ms') return undefined;
  const { value } = offset;
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : undefined;
}
