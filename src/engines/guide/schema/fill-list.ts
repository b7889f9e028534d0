import { LIMITS } from '../../../kernel/limits.ts';
import { itemSchemas } from './admits.ts';
import type { Spot } from './filling.ts';
import type { Candidate } from './fit-words.ts';
import { type Schema, schemaOf } from './schema-root.ts';
import { boundOf } from './schema-world.ts';

const MOST_CONTAINED = 64;

type Size = { readonly least: number; readonly most: number; readonly usual: number };

/** Lists that may be at a place: of what a question names, and then of other sizes. */
export function* listsOf(spot: Spot): Generator<Candidate> {
  const { filling, world } = spot;
  const least = boundOf(world, 'minItems', 'greatest') ?? 0;
  const most = boundOf(world, 'maxItems', 'least') ?? Number.POSITIVE_INFINITY;
  const contained = world.schemas.flatMap(({ contains, minContains }) =>
    contains === undefined
      ? []
      : Array<Schema>(Math.min(Number(minContains ?? 1), MOST_CONTAINED)).fill(schemaOf(contains)),
  );
  const leadsBack = world.schemas.some((schema) =>
    filling.leadsBack(itemSchemas(schema).rest, world.refs),
  );
  const sizes: (readonly [Size, readonly Schema[]])[] = [
    [{ least, most, usual: leadsBack ? 0 : 1 }, contained],
    ...[least, Math.max(least, contained.length), least + 1, least + 2, 0].flatMap((size) =>
      [contained, []].map((of) => [{ least: size, most: size, usual: 0 }, of] as const),
    ),
  ];
  for (const [size, of] of sizes) {
    if (size.least < least || size.least > most) continue;
    const list = listOf(spot, size, of);
    if (list !== undefined) yield list;
  }
}

/**
 * A list of what the question names, and else of as many items as there must be, or are usual. The first items are what
 * must be `contained`.
 */
function listOf(
  { filling, place, world }: Spot,
  { least, most, usual }: Size,
  contained: readonly Schema[],
): Candidate | undefined {
  const isUnique = world.schemas.some(({ uniqueItems }) => uniqueItems === true);
  const kinds = world.schemas.map(itemSchemas);
  const needed = Math.max(least, contained.length);
  const items: unknown[] = [];
  let isMeant = false;
  while (items.length < most) {
    const at = items.length;
    const schemas = [
      ...kinds.map(({ prefix, rest }) => prefix[at] ?? rest),
      ...contained.slice(at, at + 1),
    ];
    const filled = filling.fill(schemas, {
      name: place.name,
      path: `${place.path}[${at}]`,
      depth: place.depth + 1,
      refs: world.refs,
      avoid: isUnique ? items : [],
    });
    if (filled === undefined) {
      if (at < needed) return undefined;
      break;
    }
    const isNamed = filled.isMeant && at < LIMITS.engines.schemaNamedItems;
    if (at >= needed && !(at < usual && !isMeant) && !isNamed) break;
    items.push(filled.value);
    isMeant ||= filled.isMeant;
  }
  return { value: items, isMeant };
}
