import type { EmbeddedText, EmbeddingEngine } from '../../../engines/engine.ts';
import { ENGINE_LIMITS } from '../../../engines/limits.ts';
import { USE_LITE_DIMENSIONS } from '../../../engines/text/use-lite.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import type {
  EmbeddingInput,
  EmbeddingParameters,
  EmbeddingRail,
  Misfit,
  VectorEncoding,
} from '../embedding-rail.ts';
import { joinList } from './cut-list.ts';
import { engineFailure } from './engine-failure.ts';
import { takeTurns } from './take-turns.ts';
import { encodeVector } from './vector-encoding.ts';

const { textChars: embedTextChars, batch: embedBatch } = ENGINE_LIMITS.embedding;

/** Creates the rail of the built-in sentence encoder. */
export function createLocalEmbeddingRail(deps: {
  readonly engine: EmbeddingEngine;
}): EmbeddingRail {
  return {
    misfit,
    async embed({ agentId, model, servedAs = model, body }, signal) {
      const texts = textsOf(body.input);
      const dimensions = body.dimensions ?? USE_LITE_DIMENSIONS;
      try {
        const vectors: Float32Array[] = [];
        // In batches, so that the work stops when the client has left.
        for (let at = 0; at < texts.length && !signal.aborted; at += embedBatch) {
          const batch = await deps.engine.embed(texts.slice(at, at + embedBatch), agentId);
          vectors.push(...batch.map((vector) => cut(vector, dimensions)));
        }
        if (signal.aborted) return { kind: 'aborted' };
        const promptTokens = countTokens(texts);
        const encoding = body.encoding_format ?? 'float';
        return {
          kind: 'completed',
          status: 200,
          contentType: 'application/json',
          promptTokens,
          body: await writeList({ model: servedAs, vectors, encoding, promptTokens }),
        };
      } catch (error) {
        return engineFailure(error, 'input');
      }
    },
  };
}

/** Returns the reason why the encoder cannot serve a request. Vectors can be shortened to `dimensions`, but not extended. */
function misfit({ input, dimensions }: EmbeddingParameters): Misfit | undefined {
  const texts = textsOf(input);
  if (texts.some((text) => text.length === 0)) {
    return wrongInput('A text to embed has one character at least.');
  }
  if (texts.some((text) => text.length > embedTextChars)) {
    return wrongInput(`A text to embed has at most ${embedTextChars} characters or tokens.`);
  }
  if (texts.some((text) => typeof text !== 'string' && text.some((token) => token > LAST_TOKEN))) {
    return wrongInput('input has a token that cl100k_base does not have.');
  }
  if ((dimensions ?? USE_LITE_DIMENSIONS) <= USE_LITE_DIMENSIONS) return undefined;
  const detail = `The vectors of this model have at most ${USE_LITE_DIMENSIONS} dimensions.`;
  return { detail, param: 'dimensions' };
}

/** Highest token of cl100k_base, the encoder of token inputs. */
const LAST_TOKEN = 100_276;

const wrongInput = (detail: string): Misfit => ({ detail, param: 'input' });

function textsOf(input: EmbeddingInput): readonly EmbeddedText[] {
  if (typeof input === 'string') return [input];
  return typeof input[0] === 'number'
    ? [input as readonly number[]]
    : (input as readonly EmbeddedText[]);
}

/**
 * Estimates the tokens of the texts, because the encoder does not report them. A text counts by its characters, a list of
 * tokens by its length.
 */
const countTokens = (texts: readonly EmbeddedText[]): number =>
  texts.reduce(
    (sum, text) =>
      sum +
      (typeof text === 'string'
        ? Math.ceil(text.length / MODEL_LIMITS.tokens.charsEach)
        : text.length),
    0,
  );

/** Returns the first `dimensions` numbers of a vector, scaled to length one. A vector that has only zeros there stays zero. */
function cut(vector: Float32Array, dimensions: number): Float32Array {
  if (dimensions >= vector.length) return vector;
  const first = vector.subarray(0, dimensions);
  const length = Math.hypot(...first) || 1;
  return first.map((value) => value / length);
}

async function writeList(list: {
  readonly model: string;
  readonly vectors: readonly Float32Array[];
  readonly encoding: VectorEncoding;
  readonly promptTokens: number;
}): Promise<Buffer> {
  const { model, promptTokens } = list;
  const turn = takeTurns();
  const items: Buffer[] = [];
  for (const [index, vector] of list.vectors.entries()) {
    const embedding = list.encoding === 'base64' ? encodeVector(vector) : Array.from(vector);
    const item = Buffer.from(JSON.stringify({ object: 'embedding', index, embedding }));
    items.push(item);
    await turn(item.length);
  }
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  return joinList({
    head: Buffer.from('{"object":"list","data":['),
    items,
    tail: Buffer.from(`],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`),
  });
}
