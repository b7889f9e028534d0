import { spreadWords } from '../../../engines/asr/spread-words.ts';
import type { TimedWord } from '../../../engines/engine.ts';
import { uuidOf } from '../../../kernel/ids.ts';
import { writeWhole } from '../../../kernel/json/write-json.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';
import { textOf } from '../../../models/providers/local/render-transcript.ts';
import type {
  ListenAnswer,
  Rendered,
  TranscribedCall,
  WholeTranscript,
} from '../../../models/providers/transcription-rail.ts';

/** Preferences of a request in Deepgram's protocol for its answer. */
export type ListenPreferences = {
  /** Query parameters as the client wrote them, for an upstream that speaks Deepgram's protocol. */
  readonly options: readonly (readonly [name: string, value: string])[];
  /** True when each word also has `punctuated_word`. */
  readonly punctuated: boolean;
  /** Milliseconds of silence between two utterances. Undefined: the caller requested no utterances. */
  readonly uttSplitMs: number | undefined;
  /** Metadata of the answer that is known before the transcription. */
  readonly metadata: {
    readonly request_id: string;
    readonly sha256: string;
    readonly created: string;
    readonly model: string;
    readonly tags?: readonly string[];
  };
};

/** Words that are rendered in one turn of the event loop, which takes a few milliseconds. */
const WORDS_PER_TURN = 2_000;

/** Returns the answer of a request for a file: a transcript of any source in Deepgram's form. */
export const listenAnswer = (wishes: ListenPreferences): ListenAnswer => ({
  options: wishes.options,
  write: (whole, call) => renderListen(whole, call, wishes),
  relay: (results, call) =>
    answer(wishes, call, { durationMs: call.file.durationMs, warnings: [], results }),
});

/**
 * Writes a transcript in the form of Deepgram's answer for a file:
 * https://developers.deepgram.com/reference/speech-to-text-api/listen. The recognisers here report no confidence, so that it is
 * 1, and 0 for an empty transcript. Preferences that change the transcript and are not supported are named in
 * `metadata.warnings`.
 */
async function renderListen(
  whole: WholeTranscript,
  call: TranscribedCall,
  wishes: ListenPreferences,
): Promise<Rendered> {
  const words = await wordsOf(whole, wishes);
  const transcript = textOf(whole);
  const best = { transcript, confidence: transcript === '' ? 0 : 1, words };
  const { uttSplitMs } = wishes;
  return answer(wishes, call, {
    durationMs: whole.durationMs,
    warnings: warningsOf(wishes),
    results: {
      channels: [{ alternatives: [best], detected_language: languageOf(whole, wishes) }],
      ...(uttSplitMs !== undefined && { utterances: await utterancesOf(words, uttSplitMs) }),
    },
  });
}

async function answer(
  { metadata: { model, ...known } }: ListenPreferences,
  call: TranscribedCall,
  told: {
    readonly durationMs: number;
    readonly results: unknown;
    readonly warnings: readonly object[];
  },
): Promise<Rendered> {
  const { durationMs, results, warnings } = told;
  const uuid = uuidOf(model);
  const metadata = {
    transaction_key: 'deprecated',
    ...known,
    duration: durationMs / 1_000,
    channels: 1,
    models: [uuid],
    model_info: { [uuid]: { name: model, version: 'latest', arch: call.model } },
    ...(warnings.length > 0 && { warnings }),
  };
  const body = await writeWhole({ metadata, results });
  return { body, contentType: 'application/json' };
}

type ListenWord = {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  readonly confidence: 1;
  readonly punctuated_word?: string;
};

async function wordsOf(
  { segments }: WholeTranscript,
  { punctuated }: ListenPreferences,
): Promise<ListenWord[]> {
  const words: ListenWord[] = [];
  let untilTurn = WORDS_PER_TURN;
  for (const { endMs, startMs, text, words: told } of segments) {
    for (const word of told ?? spreadWords(text, startMs, endMs)) {
      words.push(listenWord(word, punctuated));
      if (--untilTurn > 0) continue;
      await turnForLongWork();
      untilTurn = WORDS_PER_TURN;
    }
  }
  return words;
}

const EDGES = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

function listenWord({ endMs, startMs, word }: TimedWord, punctuated: boolean): ListenWord {
  const bare = word.toLowerCase().replace(EDGES, '');
  return {
    word: bare === '' ? word : bare,
    start: startMs / 1_000,
    end: endMs / 1_000,
    confidence: 1,
    ...(punctuated && { punctuated_word: word }),
  };
}

/** Splits words into utterances at each silence of `splitMs` or more. */
async function utterancesOf(words: readonly ListenWord[], splitMs: number): Promise<object[]> {
  const utterances: object[] = [];
  let said: ListenWord[] = [];
  let transcript = '';
  for (const [at, word] of words.entries()) {
    if (at > 0 && at % WORDS_PER_TURN === 0) await turnForLongWork();
    said.push(word);
    transcript += `${said.length === 1 ? '' : ' '}${word.punctuated_word ?? word.word}`;
    if (at + 1 < words.length && gapMs(words, at + 1) < splitMs) continue;
    const start = said[0]?.start;
    utterances.push({
      start,
      end: word.end,
      confidence: 1,
      channel: 0,
      transcript,
      words: said,
      id: uuidOf(`${start} ${word.end} ${at}`),
    });
    said = [];
    transcript = '';
  }
  return utterances;
}

const gapMs = (words: readonly ListenWord[], at: number): number =>
  1_000 * ((words[at]?.start ?? 0) - (words[at - 1]?.end ?? 0));

/** Returns the detected language, as the upstream spells it. Undefined when the caller did not request its detection. */
const languageOf = ({ language }: WholeTranscript, { options }: ListenPreferences) =>
  options.some(([name, value]) => name === 'detect_language' && value !== 'false')
    ? language
    : undefined;

/** Options that change a transcript and that this server does not carry out on its own. */
const NOT_DONE: ReadonlySet<string> = new Set([
  'diarize',
  'diarize_model',
  'paragraphs',
  'summarize',
  'topics',
  'intents',
  'sentiment',
  'detect_entities',
  'search',
  'replace',
  'keyterm',
  'keywords',
  'numerals',
  'measurements',
  'dictation',
  'profanity_filter',
  'filler_words',
  'smart_format',
  'punctuate',
  'version',
]);

const warningsOf = ({ options }: ListenPreferences): object[] =>
  [...new Set(options.filter(isNotDone).map(([name]) => name))].map((parameter) => ({
    parameter,
    type: 'unsupported_model',
    message: `The model does not do "${parameter}", which was ignored.`,
  }));

const isNotDone = ([name, value]: ListenPreferences['options'][number]): boolean =>
  NOT_DONE.has(name) && value !== 'false' && value !== '';
