import type { Clock } from '../../kernel/clock.ts';
import type { KindMetrics } from '../../voice/live/voice-metrics.ts';
import type { SpokenText } from '../../voice/session/heard-words.ts';
import type { Played } from '../../voice/session/voice-client.ts';
import type { Heard } from '../../voice/stt/transcriber-events.ts';
import type { SaidTurn } from './said-turn.ts';
import { LatencyChain } from './turn-latency.ts';

export type TurnRecordDeps = {
  readonly clock: Pick<Clock, 'monotonicMs' | 'now'>;
  readonly metrics: Pick<KindMetrics, 'stage' | 'wordsSaid' | 'wordsUnheard'>;
  /** Returns the time at which the first sound of the present answer was sent. */
  readonly firstSoundAtMs: () => number | undefined;
  /** Returns the spoken text of an answer. */
  readonly spoken: (itemId: string) => Pick<SpokenText, 'cut' | 'text'> | undefined;
  /** Called with each complete turn, of the caller or of the agent. */
  readonly said: (turn: SaidTurn) => void;
  /** Takes the part that was heard of an answer that was cut, after `said` took its words. */
  readonly heard: (itemId: string, heard: string) => void;
  /** Runs when the peer has interrupted the answer that was playing, after the part `heard`. */
  readonly interrupted: (heard: string, heardMs: number) => void;
};

/** Records the turns of both sides of a call, with the time of each and the heard part of each answer. */
export class TurnRecord {
  readonly latency: LatencyChain;
  readonly #deps: TurnRecordDeps;

  constructor(deps: TurnRecordDeps) {
    this.#deps = deps;
    this.latency = new LatencyChain(deps);
  }

  /** Records the words of a peer's turn. */
  heard(heard: Heard, isAddressed: boolean): void {
    this.latency.heard(heard, isAddressed);
    const { latencyMs, text } = heard;
    if (text === '') return;
    const at = new Date(this.#deps.clock.now() - latencyMs);
    this.#deps.said({ role: 'user', content: text, at });
  }

  /** Records an answer that has all its words. */
  said(content: string, itemId: string): void {
    if (content === '') return;
    const { clock, metrics, firstSoundAtMs } = this.#deps;
    const soundAtMs = firstSoundAtMs();
    const latency = this.latency.take(soundAtMs);
    const agoMs = soundAtMs === undefined ? 0 : clock.monotonicMs() - soundAtMs;
    metrics.wordsSaid(countWords(content));
    const at = new Date(clock.now() - agoMs);
    this.#deps.said({ role: 'assistant', content, at, itemId, latency });
  }

  /** Records the part that was heard of each item whose sound was stopped. */
  cut(played: readonly Played[]): void {
    for (const { itemId } of played) {
      const { cut: heard = '', text = '' } = this.#deps.spoken(itemId) ?? {};
      this.#deps.metrics.wordsUnheard(Math.max(0, countWords(text) - countWords(heard)));
      this.#deps.heard(itemId, heard);
    }
  }

  /** Reports that the peer interrupted the sound of the given items. The first item was playing. */
  interrupted([playing]: readonly Played[]): void {
    if (playing === undefined) return;
    this.#deps.interrupted(this.#deps.spoken(playing.itemId)?.cut ?? '', playing.heardMs);
  }
}

/** Returns the number of words of a text. */
export const countWords = (text: string): number => text.match(/\S+/g)?.length ?? 0;
