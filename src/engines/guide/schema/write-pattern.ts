import { samplesOf } from './code-set.ts';
import type { PatternNode } from './pattern-tree.ts';
import type { SchemaWork } from './schema-work.ts';

/**
 * A text that a pattern describes, the shortest there is where `more` is 0 and longer by so many repetitions of each
 * part that may be repeated. Each `variant` takes other ways through the pattern. Undefined where a part of it has no
 * character that is known here. What a pattern wants to see ahead is not looked at.
 */
export function writePattern(
  pattern: PatternNode,
  options: { readonly variant: number; readonly more: number },
  work: SchemaWork,
): string | undefined {
  let left = options.variant;
  const pick = <T>(list: readonly T[]): T | undefined => {
    const picked = list[left % list.length];
    left = Math.floor(left / Math.max(1, list.length));
    return picked;
  };
  let chars = 0;

  function write(node: PatternNode): string | undefined {
    work.spend();
    switch (node.kind) {
      case 'set': {
        const code = pick(samplesOf(node.set));
        work.write(++chars);
        return code === undefined ? undefined : String.fromCodePoint(code);
      }
      case 'all':
        return writeAll(node.parts);
      case 'any': {
        const option = pick(node.options);
        return option && write(option);
      }
      case 'repeat': {
        const times = Math.min(node.most, node.least + options.more);
        work.write(times);
        return writeAll(Array<PatternNode>(times).fill(node.part));
      }
      default:
        return '';
    }
  }

  function writeAll(parts: readonly PatternNode[]): string | undefined {
    let text = '';
    for (const part of parts) {
      const written = write(part);
      if (written === undefined) return undefined;
      text += written;
    }
    return text;
  }

  return write(pattern);
}
