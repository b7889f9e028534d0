const BREAKPOINT = '--> statement-breakpoint';
const DEFINITION = /^CREATE (?:OR REPLACE )?FUNCTION (\w+)/m;

/**
 * Returns the name and the text of a function's definition, without the comments before it and in a form that may run again.
 * Undefined when the statement defines no function.
 */
function definitionIn(statement: string): [name: string, text: string] | undefined {
  const found = DEFINITION.exec(statement);
  if (found?.[1] === undefined) return undefined;
  const text = statement.slice(found.index).trim();
  return [found[1], text.replace(/^CREATE FUNCTION/, 'CREATE OR REPLACE FUNCTION')];
}

/**
 * Returns the newest definition of each SQL function by its name. `migrations` are the texts of the migrations, oldest first.
 */
export function definedFunctions(migrations: readonly string[]): ReadonlyMap<string, string> {
  const found = migrations.flatMap((text) => text.split(BREAKPOINT)).map(definitionIn);
  return new Map(found.filter((entry) => entry !== undefined));
}

/** Returns the part of a definition before its body: its name, arguments, result and settings. */
const headOf = (definition: string): string => definition.slice(0, definition.indexOf('AS $$'));

/**
 * Returns the text of a migration from `defined`, the definitions of the migrations before, to `files`. Undefined when the two
 * sets are the same. A function whose arguments or result changed is dropped first, since PostgreSQL replaces bodies only.
 */
export function functionsMigration(
  defined: ReadonlyMap<string, string>,
  files: ReadonlyMap<string, string>,
): string | undefined {
  const statements = [...files].flatMap(([name, text]) => {
    const before = defined.get(name);
    if (before === text) return [];
    const isReplaced = before === undefined || headOf(before) === headOf(text);
    return isReplaced ? [text] : [`DROP FUNCTION ${name};`, text];
  });
  return statements.length === 0 ? undefined : `${statements.join(`\n${BREAKPOINT}\n`)}\n`;
}
