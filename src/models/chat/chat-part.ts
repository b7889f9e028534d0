import type { Json } from '../../kernel/json.ts';

/** Members of one part of a message. A part may have several of them; the upstream decides which one counts. */
export type ChatPart = {
  readonly text: string | undefined;
  /** Value of the part's `image_url`. Undefined: the part has no image. `audio` and `file` likewise. */
  readonly image: unknown;
  readonly audio: unknown;
  readonly file: unknown;
  /** True for a kind of part that this server does not know. */
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

/** Number of members of a part that are not text. */
export const opaqueMembers = ({ audio, file, image }: ChatPart): number =>
  Number(image !== undefined) + Number(audio !== undefined) + Number(file !== undefined);
