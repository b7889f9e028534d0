import type { EmbeddingEngine } from '../engines/engine.ts';
import { USE_LITE_DIMENSIONS } from '../engines/use-lite.ts';
import { LIMITS } from '../kernel/limits.ts';
import { joinList } from './cut-list.ts';
import type {
  EmbeddingInput,
  EmbeddingRail,
  EmbeddingWish,
  Misfit,
  VectorEncoding,
} from './embedding-rail.ts';
import { engineFailure } from './engine-failure.ts';
import { takeTurns } from './take-turns.ts';
import { encodeVector } from './vector-encoding.ts';

const { embedTextChars, embedBatch } = LIMITS.engines;

/** The built-in sentence encoder behind the interface of a remote upstream. */
export function createLocalEmbeddingRail(deps: {
  readonly engine: EmbeddingEngine;
}): EmbeddingRail {
  return {
    misfit,
    async embed({ model, body }, signal) {
      const texts = textsOf(body.input) ?? [];
      try {
        const vectors: Float32Array[] = [];
        // By batches, so that no more is computed for a client that has left.
        for (let at = 0; at < texts.length && !signal.aborted; at += embedBatch) {
          vectors.push(...(await deps.engine.embed(texts.slice(at, at + embedBatch))));
        }
        if (signal.aborted) return { kind: 'aborted' };
        const promptTokens = countTokens(texts);
        const encoding = body.encoding_format ?? 'float';
        return {
          ...{ kind: 'completed', status: 200, contentType: 'application/json', promptTokens },
          body: await writeList({ model, vectors, encoding, promptTokens }),
        };
      } catch (error) {
        return engineFailure(error, 'input');
      }
    },
  };
}

/** The encoder was not trained for vectors that are cut off, so that its own size is the only one. */
function misfit({ input, dimensions }: EmbeddingWish): Misfit | undefined {
  const texts = textsOf(input);
  if (texts === undefined) return wrongInput('This model takes text, and no tokens.');
  if (texts.includes('')) return wrongInput('A text to embed has one character at least.');
  if (texts.some((text) => text.length > embedTextChars)) {
    return wrongInput(`A text to embed has at most ${embedTextChars} characters.`);
  }
  if ((dimensions ?? USE_LITE_DIMENSIONS) === USE_LITE_DIMENSIONS) return undefined;
  const detail = `The vectors of this model have ${USE_LITE_DIMENSIONS} dimensions, no more and no fewer.`;
  return { detail, param: 'dimensions' };
}

const wrongInput = (detail: string): Misfit => ({ detail, param: 'input' });

function textsOf(input: EmbeddingInput): readonly string[] | undefined {
  if (typeof input === 'string') return [input];
  return typeof input[0] === 'string' ? (input as readonly string[]) : undefined;
}

/** The encoder does not tell its tokens: so many characters of a text are one. */
const countTokens = (texts: readonly string[]): number =>
  texts.reduce((sum, { length }) => sum + Math.ceil(length / LIMITS.charsPerToken), 0);

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
