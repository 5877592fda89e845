import type { ToolSpec } from '../../core/plugins/tool.ts';
import { type Static, type TSchema, Type } from '../../core/typebox.ts';

/** Says that an action is a whole turn of a policy. */
export const turnTitle = 'AgentRlTurn';

const id = Type.Optional(Type.String());
const rules = { additionalProperties: false };
const mostCalls = 64;

const turnOf = <Call extends TSchema>(call: Call) =>
  Type.Object(
    {
      content: Type.String({ description: 'What the policy says besides its calls' }),
      tool_calls: Type.Optional(
        Type.Array(call, {
          maxItems: mostCalls,
          description: 'Calls, which the server runs in this order',
        }),
      ),
      malformed_calls: Type.Optional(
        Type.Array(Type.Object({ id, text: Type.String(), problem: Type.String() }, rules), {
          maxItems: mostCalls,
          description: 'Calls that could not be read',
        }),
      ),
      cut: Type.Optional(
        Type.Boolean({ description: 'The episode ends here, by a limit of the client' }),
      ),
      metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    },
    { title: turnTitle, ...rules },
  );

/** A turn on the wire. Calls of unknown tools and wrong arguments are answered, not refused. */
export const WireTurn = turnOf(
  Type.Object(
    { id, name: Type.String(), arguments: Type.Record(Type.String(), Type.Unknown()) },
    rules,
  ),
);
export type WireTurn = Static<typeof WireTurn>;

/** The messages of an observation, as chat APIs write them; a tool's says whether the call failed. */
export const WireMessages = Type.Array(
  Type.Object({
    role: Type.Enum(['system', 'user', 'tool']),
    content: Type.String(),
    name: Type.Optional(Type.String()),
    call_id: Type.Optional(Type.String()),
    is_error: Type.Optional(Type.Boolean()),
  }),
);
export type WireMessage = Static<typeof WireMessages>[number];

/** The schema of a turn that calls these tools. */
export const turnSchema = (tools: readonly ToolSpec[]): TSchema =>
  turnOf(
    Type.Union(
      tools.map(({ name, description, parameters }) =>
        Type.Object({ id, name: Type.Literal(name), arguments: parameters }, { description }),
      ),
    ),
  );
