import type { Filled, Spot } from './filling.ts';
import type { Candidate } from './fit-words.ts';
import { isRecord } from './json-value.ts';
import { type Schema, schemaOf } from './schema-root.ts';
import { boundOf, membersOf, namedBy, requiredOf } from './schema-world.ts';

const MOST_NAMES = 8;

type Members = ReadonlyMap<string, Filled>;

/**
 * Objects that may be at a place: with what must be there and what a question names beside it, then with what must be
 * there alone, and then with more.
 */
export function* objectsOf(spot: Spot): Generator<Candidate> {
  const { filling, place, world } = spot;
  const required = new Set(requiredOf(filling.root, world));
  const named = namedBy(world);
  const most = boundOf(world, 'maxProperties', 'least') ?? Number.POSITIVE_INFINITY;
  const least = boundOf(world, 'minProperties', 'greatest') ?? 0;
  const objectOf = (members: Members, isMeant: boolean): Candidate => ({
    value: inOrder(named, members),
    isMeant,
  });

  const first = named.filter((name) => required.has(name));
  const base = membersNamed(spot, new Set([...first, ...required]));
  if (base === undefined) return;
  const isMeant = [...base.values()].some((one) => one.isMeant);
  const rest = named.filter((name) => !base.has(name));
  const more = withOptional(spot, { base, names: rest, most });
  if (more.size > base.size && more.size >= least) yield objectOf(more, true);
  if (base.size >= least) yield objectOf(base, isMeant);
  const full = upTo(spot, least, more);
  if (full.size > base.size) yield objectOf(full, isMeant);
  for (const name of rest) {
    const one = membersNamed(spot, new Set([...base.keys(), name]));
    if (one !== undefined) yield objectOf(one, isMeant);
  }
  if (place.avoid.length === 0) return;
  // An item of a list whose items must differ: the same with another value for one member.
  for (const name of base.keys()) {
    const other = fillMember(spot, name);
    if (other !== undefined) yield objectOf(new Map(base).set(name, other), other.isMeant);
  }
}

/** The members of these names, with whatever those bring along. Undefined where one of them has no value. */
function membersNamed(spot: Spot, names: ReadonlySet<string>): Members | undefined {
  const members = new Map<string, Filled>();
  const wanted = Object.fromEntries([...names].map((name) => [name, true]));
  for (const name of requiredOf(spot.filling.root, spot.world, wanted)) {
    const filled = fillMember({ ...spot, place: { ...spot.place, avoid: [] } }, name);
    if (filled === undefined) return undefined;
    members.set(name, filled);
  }
  return members;
}

function fillMember({ filling, place, world }: Spot, name: string): Filled | undefined {
  return filling.fill(membersOf(filling.root, world, name), {
    name,
    path: place.path === '' ? name : `${place.path}.${name}`,
    depth: place.depth + 1,
    refs: world.refs,
    avoid: place.avoid.map((other) => (isRecord(other) ? other[name] : undefined)),
  });
}

/** The members beside those that must be there, as far as the question names a value for them. */
function withOptional(
  spot: Spot,
  {
    most,
    names,
    base,
  }: { readonly base: Members; readonly names: readonly string[]; readonly most: number },
): Members {
  const { filling, world } = spot;
  const members = new Map(base);
  for (const name of names) {
    if (members.size >= most) break;
    const schemas = membersOf(filling.root, world, name);
    if (schemas.some((one) => filling.leadsBack(one, world.refs))) continue;
    const filled = fillMember(spot, name);
    if (filled?.isMeant === true) members.set(name, filled);
  }
  return members;
}

/** As many members as there must be, of names that are known and then of others. */
function upTo(spot: Spot, least: number, base: Members): Members {
  const members = new Map(base);
  const add = (name: string): boolean => {
    if (members.has(name)) return true;
    const filled = fillMember(spot, name);
    if (filled !== undefined) members.set(name, filled);
    return filled !== undefined;
  };
  for (const name of namedBy(spot.world)) if (members.size < least) add(name);
  if (members.size >= least) return members;
  for (const name of ruledNames(spot)) if (members.size < least) add(name);
  for (let i = 1; members.size < least; i++) if (!add(`member${i}`)) break;
  return members;
}

/** Names that patterns and rules for names take. */
function ruledNames({ filling, place, world }: Spot): string[] {
  const rules = world.schemas.flatMap(({ patternProperties, propertyNames }) => [
    ...Object.keys(patternProperties ?? {}).map((pattern): Schema => ({ pattern })),
    ...(propertyNames === undefined ? [] : [schemaOf(propertyNames)]),
  ]);
  const names: string[] = [];
  for (const rule of rules) {
    for (let i = 0; i < MOST_NAMES; i++) {
      const at = { ...place, name: '', depth: place.depth + 1, refs: world.refs, avoid: names };
      const filled = filling.fill([rule, { type: 'string' }], at);
      if (filled === undefined) break;
      names.push(String(filled.value));
    }
  }
  return names;
}

const inOrder = (named: readonly string[], members: Members): Record<string, unknown> =>
  Object.fromEntries(
    [...new Set([...named, ...members.keys()])].flatMap((name) => {
      const member = members.get(name);
      return member === undefined ? [] : [[name, member.value]];
    }),
  );
