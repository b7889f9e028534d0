/**
 * The whole of voice activity detection for one listener: frames of 20 ms at 16 kHz in, turns
 * out. The gate and the loudness of the line are judged in line; the model runs elsewhere and may be
 * late or gone.
 */
import { HEARING_WINDOW } from '../../media/hearing.ts';
import { TurnDetector, type VadEvent, type VadOptions } from '../../media/vad.ts';
import { VadWindows } from '../../media/vad-windows.ts';
import type { VadEngine, VadStream } from './engine.ts';
import type { SpeechGate } from './fvad-gate.ts';

/** Windows on their way to the model. What comes meanwhile waits in the ring, 256 ms at most. */
const MAX_IN_FLIGHT = 3;

export type VoiceDetector = {
  /** Takes the next frame; nothing is kept of the array. Event times count in the frames so far. */
  push(frame: Int16Array): void;
  /** Forgets a turn under way, as when the sound was committed or cleared by hand. */
  reset(): void;
  /** Resolves when the model has answered all that it was asked so far. */
  settled(): Promise<void>;
  close(): void;
  readonly speaking: boolean;
  readonly counters: VoiceDetectorCounters;
};

type VoiceDetectorCounters = {
  /** Windows the model has judged. */
  readonly judged: number;
  /** Sound that came too fast for the model. */
  readonly skippedSamples: number;
  /** Decisions that the gate took because the model did not answer in time. */
  readonly gateDecisions: number;
  /** The model could not be had or failed: from then on the gate decides alone. */
  readonly modelGone: boolean;
};

/**
 * `onEvent` is called from within `push`, or later when the model answers; never after `close`, which
 * gives the gate and the model's stream back. The model is opened when the gate first opens.
 */
export function createVoiceDetector(deps: {
  readonly gate?: SpeechGate;
  readonly engine?: VadEngine;
  readonly options?: Partial<Omit<VadOptions, 'answerWithinMs'>>;
  readonly onEvent: (event: VadEvent) => void;
}): VoiceDetector {
  const { engine, gate } = deps;
  const turns = new TurnDetector({
    ...deps.options,
    ...(engine === undefined ? { answerWithinMs: 0 } : {}),
  });
  let open = true;

  const tell = (event: VadEvent | undefined) => {
    if (event !== undefined && open) deps.onEvent(event);
  };
  const model = engine === undefined ? undefined : askModel({ engine, turns, tell });

  return {
    push(frame) {
      if (!open) return;
      tell(turns.frame(frame, gate?.isSpeech(frame)));
      model?.hear(frame);
    },
    reset: () => turns.reset(),
    settled: async () => model?.settled(),
    close() {
      if (open) gate?.close();
      open = false;
      model?.close();
    },
    get speaking() {
      return turns.speaking;
    },
    get counters() {
      return {
        judged: model?.judged ?? 0,
        skippedSamples: model?.skippedSamples ?? 0,
        gateDecisions: turns.gateDecisions,
        modelGone: model?.gone ?? true,
      };
    },
  };
}

/** The second stage: hands windows to the model while they are wanted, and its answers to the turns. */
function askModel(deps: {
  readonly engine: VadEngine;
  readonly turns: TurnDetector;
  readonly tell: (event: VadEvent | undefined) => void;
}) {
  const { engine, turns, tell } = deps;
  const windows = new VadWindows();
  const idle: Int16Array[] = Array.from(
    { length: MAX_IN_FLIGHT },
    () => new Int16Array(HEARING_WINDOW),
  );
  let stream: VadStream | undefined;
  let opening: Promise<void> | undefined;
  let lastAnswer: Promise<void> = Promise.resolve();
  let gone = false;
  let judged = 0;

  async function openStream(): Promise<void> {
    try {
      const opened = await engine.open();
      if (gone) opened.close();
      else stream = opened;
    } catch {
      // Busy or not installed: said by the engine to who starts the server, of no use to a caller.
      gone = true;
    }
    ask();
  }

  function ask(): void {
    while (!gone && stream !== undefined && turns.wantsProbability) {
      const window = idle.pop();
      if (window === undefined) return;
      const endMs = windows.pull(window);
      if (endMs === undefined) {
        idle.push(window);
        return;
      }
      // Whatever goes wrong with an answer, what its listener makes of it included, the gate goes on.
      lastAnswer = stream
        .probability(window)
        .then((value) => answered(window, value, endMs))
        .catch(leave);
    }
  }

  function answered(window: Int16Array, value: number, endMs: number): void {
    // A stream that handed the memory on to a thread has left an empty array behind.
    idle.push(window.length === HEARING_WINDOW ? window : new Int16Array(HEARING_WINDOW));
    if (!Number.isNaN(value)) judged++;
    tell(turns.probability(value, endMs));
    ask();
  }

  function leave(): void {
    gone = true;
    stream?.close();
    stream = undefined;
  }

  return {
    hear(frame: Int16Array): void {
      if (gone) return;
      windows.push(frame, turns.wantsProbability);
      if (turns.wantsProbability) opening ??= openStream();
      ask();
    },
    async settled(): Promise<void> {
      await opening;
      for (let seen: unknown; seen !== lastAnswer; ) {
        seen = lastAnswer;
        await lastAnswer;
      }
    },
    close: leave,
    get gone() {
      return gone;
    },
    get judged() {
      return judged;
    },
    get skippedSamples() {
      return windows.skippedSamples;
    },
  };
}
