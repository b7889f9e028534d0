import type { Json } from '../../kernel/json.ts';

/** What one part of a message has: a part may have several at once, and which of them counts is for its upstream to say. */
export type ChatPart = {
  readonly text: string | undefined;
  /** Undefined where it has none, as for the others. */
  readonly image: unknown;
  readonly audio: unknown;
  readonly file: unknown;
  /** Only the upstream knows this kind of part. */
  readonly isUnknown: boolean;
};

const TEXTS: ReadonlySet<unknown> = new Set([undefined, 'text', 'input_text', 'output_text']);

export function readPart({ file, image_url, input_audio, text, type }: Json): ChatPart {
  const image = image_url ?? undefined;
  const audio = input_audio ?? undefined;
  const attached = file ?? undefined;
  const isText = typeof text === 'string' && TEXTS.has(type);
  const isOpaque = image !== undefined || audio !== undefined || attached !== undefined;
  return {
    text: typeof text === 'string' ? text : undefined,
    image,
    audio,
    file: attached,
    isUnknown: !isText && !isOpaque,
  };
}

/** How many members of a part are no text. */
export const opaqueMembers = ({ audio, file, image }: ChatPart): number =>
  Number(image !== undefined) + Number(audio !== undefined) + Number(file !== undefined);
