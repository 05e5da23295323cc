// Calls a server through the types that openapi-typescript makes of its
// description. What must not compile is marked so: tsc complains if it does.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/api.js";

type Webhook = components["schemas"]["Webhook"];

function want(right: boolean, what: string, got: unknown): asserts right {
  if (!right) throw new Error(`${what}: ${JSON.stringify(got)}`);
}

const client = createClient<paths>({
  baseUrl: process.env.SERVER!,
  headers: { authorization: "Basic " + btoa(`admin:${process.env.PASSWORD}`) },
});

const made = await client.POST("/api/v3/command/webhook.put", { body: { eventKey: "webhook.generated.ts", payloadType: "raw" } });
want(made.data !== undefined, "webhook.put", made.error);
const hook: Webhook = made.data;
const again = await client.POST("/api/v3/command/webhook.put", { body: { eventKey: hook.eventKey } });
want(again.error?.status === 409 && again.error.code !== "", "webhook.put again", again.data);

const all = await client.GET("/api/v3/command/webhook.get");
want(Array.isArray(all.data) && all.data.length > 0, "webhook.get", all);
const one = await client.GET("/api/v3/command/webhook.get", { params: { query: { uuid: hook.uuid } } });
want(one.data !== undefined && !Array.isArray(one.data) && one.data.eventKey === hook.eventKey, "webhook.get of one", one);

const called = await client.POST("/api/v3/command/webhook.receive", { params: { query: { token: hook.uuid } }, body: { n: 1 } as never });
want(called.data?.status === "ok", "webhook.receive", called);
const polled = await client.GET("/api/v3/result", { params: { query: { "svc-result-correlationid": called.data.correlationId } } });
want(polled.data?.traceId === called.data.traceId, "result", polled);

const source = 'pipeline:\n  - set: {value: "#{body.n + 1}"}\n';
const stored = await client.PUT("/api/v3/pipeline/{name}", {
  params: { path: { name: "generated.ts" } },
  body: source,
  bodySerializer: (text) => text as string,
  headers: { "content-type": "application/yaml" },
});
want(stored.data?.name === "generated.ts", "storing a pipeline", stored);
const ran = await client.POST("/api/v3/pipeline/{name}", { params: { path: { name: "generated.ts" } }, body: { n: 1 } });
want(ran.data === 2, "running a pipeline", ran);

const user = await client.POST("/api/v3/command/iam.user.put", { body: { username: "grace", password: "correct horse", roles: ["viewer", "support"] } });
want(user.data?.roles.length === 2, "iam.user.put", user);

export const mistakes = () => [
  // @ts-expect-error uuid is required
  client.POST("/api/v3/command/webhook.delete", { body: {} }),
  // @ts-expect-error it is one of a few
  client.POST("/api/v3/command/webhook.put", { body: { payloadType: "text" } }),
  // @ts-expect-error there is no such command
  client.POST("/api/v3/command/webhook.putt", { body: {} }),
  // @ts-expect-error it changes something
  client.GET("/api/v3/command/webhook.delete", {}),
];

const gone = await client.POST("/api/v3/command/webhook.delete", { body: { uuid: hook.uuid } });
want(gone.data?.deleted === true, "webhook.delete", gone);
