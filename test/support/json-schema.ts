/** The part of JSON Schema 2020-12 that docs/rules.schema.json uses. An unknown keyword is an error; it is never skipped. */

type Json = Readonly<Record<string, unknown>>;
type Check = (value: unknown, argument: unknown, schema: Json, root: Json) => boolean;

/** Keywords without a rule for the value. */
const NOTES = ["$schema", "$id", "$defs", "title", "description", "default", "format"];

const CHECKS: Readonly<Record<string, Check>> = {
  $ref: (value, path, _schema, root) => matchesSchema(value, resolve(root, path as string), root),
  type: (value, types) => [types].flat().some((type) => isOfType(value, type as string)),
  const: (value, wanted) => value === wanted,
  enum: (value, wanted) => (wanted as unknown[]).includes(value),
  oneOf: (value, schemas, _schema, root) =>
    (schemas as Json[]).filter((one) => matchesSchema(value, one, root)).length === 1,
  minimum: (value, least) => typeof value !== "number" || value >= (least as number),
  maximum: (value, most) => typeof value !== "number" || value <= (most as number),
  exclusiveMinimum: (value, bound) => typeof value !== "number" || value > (bound as number),
  minLength: (value, least) => typeof value !== "string" || value.length >= (least as number),
  maxLength: (value, most) => typeof value !== "string" || value.length <= (most as number),
  pattern: (value, source) =>
    typeof value !== "string" || new RegExp(source as string, "u").test(value),
  maxItems: (value, most) => !Array.isArray(value) || value.length <= (most as number),
  items: (value, schema, _schema, root) =>
    !Array.isArray(value) || value.every((one) => matchesSchema(one, schema as Json, root)),
  required: (value, names) =>
    !isObject(value) || (names as string[]).every((name) => name in value),
  properties: (value, schemas, _schema, root) =>
    !isObject(value) ||
    Object.entries(schemas as Record<string, Json>).every(
      ([name, schema]) => !(name in value) || matchesSchema(value[name], schema, root),
    ),
  additionalProperties: (value, isAllowed, { properties }) =>
    isAllowed !== false ||
    !isObject(value) ||
    Object.keys(value).every((name) => name in (properties as Json)),
};

/** Whether a value of JSON fits a schema. */
export function matchesSchema(value: unknown, schema: Json, root: Json = schema): boolean {
  return Object.entries(schema).every(([keyword, argument]) => {
    if (NOTES.includes(keyword)) return true;
    const check = CHECKS[keyword];
    if (check === undefined) throw new Error(`keyword ${keyword} is not known here`);
    return check(value, argument, schema, root);
  });
}

function resolve(root: Json, path: string): Json {
  return path
    .slice(2)
    .split("/")
    .reduce((at: Json, name) => at[name] as Json, root);
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
