type Writer = {
  readonly usage: { readonly prompt_tokens: number } | undefined;
  readonly encoding: 'float' | 'base64' | undefined;
};

/** As many numbers as were asked for, the first of which is the place of the input. */
export const vectorOf = (index: number, dimensions = 4): number[] => [
  index,
  ...[-0.5, 0.25, 0.125, 1, 2, 3, 4].slice(0, dimensions - 1),
];

/** What a peer of the OpenAI protocol answers to a request for embeddings. */
export function vectorList({ usage, encoding }: Writer, body: Record<string, unknown>) {
  const { input, dimensions, encoding_format: asked = 'float', model } = body;
  const isOne = typeof input === 'string' || typeof (input as unknown[])[0] === 'number';
  const count = isOne ? 1 : (input as unknown[]).length;
  const write = (vector: number[]) =>
    (encoding ?? asked) === 'float'
      ? vector
      : Buffer.from(Float32Array.from(vector).buffer).toString('base64');
  const tokens = usage?.prompt_tokens;
  return {
    object: 'list',
    data: Array.from({ length: count }, (_, index) => ({
      object: 'embedding',
      index,
      embedding: write(vectorOf(index, dimensions as number | undefined)),
    })),
    model,
    ...(usage === undefined ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
}
