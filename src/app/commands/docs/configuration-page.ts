import { z } from 'zod';
import { SECTIONS } from '../../../config/environment.ts';
import { REMOTE_VENDORS } from '../../../marketplace/vendors/vendors.ts';
import { BUILTIN_PROVIDERS } from '../../../models/catalogue/builtin/providers.ts';
import { baseUrlVariable } from '../../../models/providers/vendors/vendor-address.ts';

/** JSON Schema of one variable, with four members of our own. */
const Variable = z.strictObject({
  description: z.string(),
  type: z.enum(['string', 'integer', 'number']),
  /** Form of the value, when the schema alone does not show it. */
  takes: z.string().optional(),
  /** Effect of an unset variable, when no single default stands for it. */
  unset: z.string().optional(),
  requiredInProduction: z.literal(true).optional(),
  /** Default of a variable whose schema has no default. */
  defaultsTo: z.string().optional(),
  default: z.union([z.string(), z.number()]).optional(),
  enum: z.array(z.string()).optional(),
  format: z.literal('uri').optional(),
  pattern: z.string().optional(),
  minLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
});
export type Variable = z.output<typeof Variable>;

type Sections = Readonly<Record<string, z.core.$ZodShape>>;

/**
 * Returns the documented variables by section, in the order of the sections.
 *
 * @internal Tests compare the documented defaults with those of readConfig.
 */
export function variablesOf(sections: Sections): Map<string, Map<string, Variable>> {
  return new Map(
    Object.entries(sections).map(([title, shape]) => {
      const { properties = {} } = z.toJSONSchema(z.object(shape), {
        io: 'input',
        unrepresentable: 'any',
      });
      const variables = Object.entries(properties).map(
        ([name, schema]) => [name, Variable.parse(schema)] as const,
      );
      return [title, new Map(variables)];
    }),
  );
}

const INTRODUCTION = `# Configuration

<!-- Written by \`npm run docs:configuration\`. Change the sections of src/config/environment.ts and run that again. -->

The server reads environment variables, once, at start. Development needs none of them. A variable that is set to nothing
counts as not set. A wrong value stops the start, and the message names the variable. Production refuses to start without
the variables that are marked as required. \`.env.example\` lists all of them for copying.
`;

const NOTES: Readonly<Record<string, string>> = {
  Commands: 'For the commands of a developer. The server uses none of them.',
  Secrets: 'Secrets that are made at first start are kept in `.data/`, in development only.',
  'Not used yet': 'The server reads and checks these variables. No part of this version uses them.',
};

const PROVIDERS = `## Provider credentials

The catalogue names the variable that holds the credential of each provider. \`GET /v1/models\` lists a model when a
credential opens one of its sources and that source has a price. A provider of \`CATALOG_FILE\` may name any other variable.
`;

const VENDORS = `## Marketplace vendors

These variables open the vendors of the marketplace. A vendor without its variables answers 503 \`vendor_unavailable\`. The last
column moves a vendor to another region or a proxy of your own; \`azure\` has no other address than that of your resource. The
addresses of \`cartesia\`, \`elevenlabs\`, \`rime\` and \`assemblyai\` are those of their models, too.
`;

/** Returns the text of `docs/configuration.md`: every variable, from the schema that reads it. */
export function configurationPage(sections: Sections = SECTIONS): string {
  const parts = [...variablesOf(sections)].map(([title, variables]) => {
    const note = NOTES[title] === undefined ? '' : `${NOTES[title]}\n\n`;
    const rows = [...variables].map(([name, variable]) => variableRow(name, variable));
    return `## ${title}\n\n${note}${table('Variable | Takes | When not set | Meaning', rows)}`;
  });
  return [INTRODUCTION, ...parts, PROVIDERS + providerTable(), VENDORS + vendorTable()].join('\n');
}

function variableRow(name: string, variable: Variable): string {
  const { description, requiredInProduction } = variable;
  const required = requiredInProduction === true ? ' Required in production.' : '';
  return `\`${name}\` | ${takes(variable)} | ${without(variable)} | ${description}${required}`;
}

function takes(variable: Variable): string {
  if (variable.takes !== undefined) return variable.takes;
  if (variable.enum !== undefined) return variable.enum.map((value) => `\`${value}\``).join(', ');
  if (variable.type !== 'string') return numbers(variable);
  return variable.format === 'uri' ? 'a URL' : 'text';
}

function numbers({ type, minimum, maximum, exclusiveMinimum }: Variable): string {
  const kind = type === 'integer' ? 'a whole number' : 'a number';
  if (exclusiveMinimum !== undefined) return `${kind} above ${exclusiveMinimum}`;
  return `${kind}, ${minimum?.toLocaleString('en')} to ${maximum?.toLocaleString('en')}`;
}

function without({ default: own, defaultsTo, unset }: Variable): string {
  const value = own ?? defaultsTo;
  return value === undefined ? (unset ?? 'none') : `\`${value}\``;
}

function providerTable(): string {
  const opens = new Map<string, string[]>();
  for (const [provider, { apiKeyEnv }] of Object.entries(BUILTIN_PROVIDERS)) {
    if (apiKeyEnv === undefined) continue;
    opens.set(apiKeyEnv, [...(opens.get(apiKeyEnv) ?? []), `\`${provider}\``]);
  }
  const rows = [...opens].map(([name, providers]) => `\`${name}\` | ${providers.join(', ')}`);
  return `\n${table('Variable | Opens', rows)}`;
}

function vendorTable(): string {
  const rows = REMOTE_VENDORS.map(({ account, name }) => {
    const variables = (account?.variables ?? []).map((variable) => `\`${variable}\``);
    const address = account?.baseUrl ?? 'must be set';
    return `\`${name}\` | ${variables.join(', ')} | \`${baseUrlVariable(name)}\`: ${address}`;
  });
  return `\n${table('Vendor | Variables | Address', rows)}`;
}

function table(head: string, rows: readonly string[]): string {
  const rule = head.replaceAll(/[^|]+/g, ' --- ').trim();
  return `${[head, rule, ...rows].map((row) => `| ${row} |`).join('\n')}\n`;
}
