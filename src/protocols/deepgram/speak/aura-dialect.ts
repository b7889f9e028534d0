import type { Json } from '../../../kernel/json.ts';
import type { Sentence, SpeakControls, SpeakDialect } from './speak-dialect.ts';

/** Dialect of `/v1/speak`: https://developers.deepgram.com/docs/tts-websocket. It numbers each `Flushed` and `Cleared`. */
export class AuraDialect implements SpeakDialect {
  readonly #controls: SpeakControls;
  readonly #metadata: Json;
  #sequence = 0;
  /** Characters spoken and amount charged since the last `Flushed`. */
  #spoken = { characters: 0, chargedRaw: 0n };

  constructor(controls: SpeakControls, metadata: Json) {
    this.#controls = controls;
    this.#metadata = metadata;
  }

  opened(): void {
    this.#controls.say(this.#metadata);
  }

  read(message: Json | undefined): void {
    const controls = this.#controls;
    if (message?.type === 'Speak') {
      if (controls.mayTake(message.text)) controls.take(message.text);
    } else if (message?.type === 'Flush') {
      if (controls.mayFlush()) controls.flush(() => this.#sayFlushed());
    } else if (message?.type === 'Clear') {
      controls.stop();
      controls.say({ type: 'Cleared', sequence_id: this.#sequence++ });
    } else if (message?.type === 'Close') controls.finish({ code: 1000, reason: 'done' });
    else controls.warn('UNPARSABLE_CLIENT_MESSAGE', 'A message is Speak, Flush, Clear or Close.');
  }

  /** Returns a warning under both pairs of names: Deepgram's clients before version 5 read `warn_code` and `warn_msg`. */
  warning(code: string, description: string): Json {
    return { type: 'Warning', code, description, warn_code: code, warn_msg: description };
  }

  begin(): Sentence {
    return {
      bought: (characters, chargedRaw) => {
        this.#spoken.characters += characters;
        this.#spoken.chargedRaw += chargedRaw;
      },
      sent() {},
      ended() {},
    };
  }

  ending(): void {}

  /**
   * Sends `Flushed` with the characters and the amount charged since the last `Flushed`, in raw USDC. A socket has no headers
   * for the amount.
   */
  #sayFlushed(): void {
    const { characters, chargedRaw } = this.#spoken;
    this.#spoken = { characters: 0, chargedRaw: 0n };
    const sequence_id = this.#sequence++;
    const cost_usdc = chargedRaw.toString();
    this.#controls.say({ type: 'Flushed', sequence_id, characters, cost_usdc });
  }
}
