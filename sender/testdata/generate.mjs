// Makes the vectors of known senders with the providers' own libraries, or
// checks with them what is made by hand. In a folder of its own:
//
//   npm i @octokit/webhooks-methods@6.0.0 stripe@23.1.0 @slack/bolt@5.1.0 \
//     @shopify/shopify-api@13.1.0 twilio@6.2.0 svix@1.99.1 standardwebhooks@1.1.1 \
//     @sendgrid/eventwebhook@8.0.0 square@46.0.0 @paddle/paddle-node-sdk@3.10.0 \
//     @hubspot/api-client@13.5.0 @linear/sdk@98.0.0 discord-interactions@4.4.0 \
//     mailgun-js@0.22.0 sns-validator@0.3.5 google-auth-library@10.9.1 \
//     cloudevents@10.0.0 twitter-webhooks@0.3.3
//   cp <tree>/sender/testdata/*.mjs . && node generate.mjs <tree>/sender/known
//
// byhand.mjs makes the others, without libraries. It needs openssl for the certificate of aws-sns.
import { execFileSync } from "node:child_process";
import crypto from "node:crypto";
import { EventEmitter } from "node:events";
import fs from "node:fs";
import https from "node:https";
import { createRequire } from "node:module";
import path from "node:path";
import { byHand, change, get, hmac, json, none, now, object, plain, provider, shake, simple, url, write } from "./vectors.mjs";

const require = createRequire(import.meta.url);

const octokit = await import("@octokit/webhooks-methods");
await provider("github", "made and checked with @octokit/webhooks-methods 6.0.0, sign and verify", {
  ...simple("X-Hub-Signature-256"),
  sign: async (body, at, secret) => ({ header: { ...json, "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958", "X-Hub-Signature-256": await octokit.sign(secret, body) }, body }),
  verify: (c) => octokit.verify("It's a Secret to Everybody", c.body, c.header["X-Hub-Signature-256"]),
  id: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
  extra: [
    { name: "a form", call: await (async () => { const body = "payload=%7B%22zen%22%3A%22M%C3%BCller%22%7D"; return { header: { "Content-Type": "application/x-www-form-urlencoded", "X-Hub-Signature-256": await octokit.sign("It's a Secret to Everybody", body) }, body }; })(), want: "ok", id: "" },
    { name: "the old signature only", call: { header: { "X-Hub-Signature": "sha1=" + hmac("sha1", "It's a Secret to Everybody", "{}", "hex") }, body: "{}" }, want: "signature-missing" },
  ],
});

await provider("gitlab", byHand, {
  ...simple("X-Gitlab-Token", (body, secret) => secret, { header: { "Idempotency-Key": "f5e5f430-f57b-4e6e-9fac-d9128cd7232f" } }),
  bodyUnsigned: true, id: "f5e5f430-f57b-4e6e-9fac-d9128cd7232f",
});
await provider("bitbucket", byHand, {
  ...simple("X-Hub-Signature", (b, s) => "sha256=" + hmac("sha256", s, b, "hex"), { header: { "X-Request-UUID": "6d5d4a3c" } }), id: "6d5d4a3c",
  extra: [{ name: "the example of its documentation", call: { header: { "X-Hub-Signature": "sha256=" + hmac("sha256", "It's a Secret to Everybody", "Hello World!", "hex") }, body: "Hello World!" }, want: "ok", id: "" }],
});

const Stripe = require("stripe");
const stripeClient = new Stripe("sk_test_x");
const stripeSecret = "whsec_5WpxIy4yXcVYDYyWdNcbrx6Oa0GDUJzr";
const stripeSign = (body, at, secret) => ({ header: { ...json, "Stripe-Signature": stripeClient.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: at }) }, body });
const stripeBody = '{\n  "id": "evt_1MZ",\n  "object": "event",\n  "data": {"name": "Müller", "amount": 10.0}\n}';
await provider("stripe", "made and checked with stripe 23.1.0, generateTestHeaderString and constructEvent", {
  secret: stripeSecret, other: "whsec_other", signature: "Stripe-Signature", timed: true, body: stripeBody, sign: stripeSign, id: "evt_1MZ",
  verify: (c) => !!stripeClient.webhooks.constructEvent(c.body, c.header["Stripe-Signature"] ?? "", stripeSecret),
  extra: [
    { name: "two signatures, the second fits", call: { header: { "Stripe-Signature": stripeSign(stripeBody, now, "whsec_other").header["Stripe-Signature"] + "," + stripeSign(stripeBody, now, stripeSecret).header["Stripe-Signature"].split(",")[1] + ",v0=abc" }, body: stripeBody }, want: "ok" },
    { name: "the test scheme only", call: { header: { "Stripe-Signature": stripeSign(stripeBody, now, stripeSecret).header["Stripe-Signature"].replace("v1=", "v0=") }, body: stripeBody }, want: "signature-invalid" },
  ],
});

await import("@shopify/shopify-api/adapters/node");
const { shopifyApi } = await import("@shopify/shopify-api");
const shopify = shopifyApi({ apiKey: "k", apiSecretKey: "It's a Secret to Everybody", hostName: "x.example.com", apiVersion: "2025-10", isEmbeddedApp: false, logger: { level: 0 } });
await provider("shopify", "by hand, checked with @shopify/shopify-api 13.1.0, webhooks.validate", {
  ...simple("X-Shopify-Hmac-SHA256", (b, s) => hmac("sha256", s, b, "base64"), {
    header: { "X-Shopify-Webhook-Id": "b54557e4", "X-Shopify-Topic": "orders/create", "X-Shopify-API-Version": "2025-10", "X-Shopify-Shop-Domain": "x.myshopify.com", "X-Shopify-Event-Id": "e1" },
  }),
  id: "b54557e4",
  verify: async (c) => (await shopify.webhooks.validate({ rawBody: c.body, rawRequest: { method: "POST", url: "/", headers: Object.fromEntries(Object.entries(c.header).map(([k, v]) => [k.toLowerCase(), v])) } })).valid,
});

const { verifySlackRequest } = require("@slack/bolt");
const slackSecret = "8f742231b10e8888abcd99yyyzzz85a5";
const slackSign = (body, at, secret) => ({ header: { ...json, "X-Slack-Request-Timestamp": String(at), "X-Slack-Signature": "v0=" + hmac("sha256", secret, `v0:${at}:${body}`, "hex") }, body });
const slackForm = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
const slackChallenge = '{"token": "Jhj5dZrVaK7ZwHHjRyZWjbDl", "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P", "type": "url_verification"}';
await provider("slack", "by hand, checked with @slack/bolt 5.1.0, verifySlackRequest", {
  secret: slackSecret, other: "guess", signature: "X-Slack-Signature", timed: true, id: "Ev08MFMKH6",
  body: '{"type":"event_callback","event_id":"Ev08MFMKH6","event":{"text":"Müller"}}', sign: slackSign,
  verify: (c) => { verifySlackRequest({ signingSecret: slackSecret, body: c.body, headers: Object.fromEntries(Object.entries(c.header).map(([k, v]) => [k.toLowerCase(), v])) }); return true; },
  extra: [{ name: "a slash command", call: slackSign(slackForm, now, slackSecret), want: "ok", id: "" }],
  handshakes: [
    shake("url_verification", slackSign(slackChallenge, now, slackSecret), plain("3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P")),
    shake("forged", slackSign(slackChallenge, now, "guess"), none, { want: "signature-invalid" }),
    shake("unsigned", { body: slackChallenge }, none, { want: "signature-missing" }),
    shake("an event", slackSign('{"type":"event_callback","challenge":"x"}', now, slackSecret), none),
  ],
});

const twilio = require("twilio");
const twilioToken = "12345";
const twilioForm = { CallSid: "CA1234567890ABCDE", Caller: "+14158675310", Digits: "1234", From: "+14158675310", To: "+18005551212", Name: "Müller" };
const twilioSign = (body, at, secret, address = url) => ({
  url: address,
  header: { "Content-Type": "application/x-www-form-urlencoded", "I-Twilio-Idempotency-Token": "d9f6", "X-Twilio-Signature": twilio.getExpectedTwilioSignature(secret, address, Object.fromEntries(new URLSearchParams(body))) },
  body,
});
const twilioJSON = (body, secret) => { const address = url + "&bodySHA256=" + crypto.createHash("sha256").update(body).digest("hex"); return { url: address, header: { ...json, "X-Twilio-Signature": twilio.getExpectedTwilioSignature(secret, address, {}) }, body }; };
const ported = url.replace("example.com", "example.com:443");
await provider("twilio", "made and checked with twilio 6.2.0, getExpectedTwilioSignature, validateRequest and validateRequestWithBody", {
  secret: twilioToken, other: "54321", signature: "X-Twilio-Signature", id: "d9f6", body: new URLSearchParams(twilioForm).toString().replace("M%C3%BCller", "Müller"),
  sign: (body, at, secret) => twilioSign(body, at, secret),
  verify: (c) => c.header["Content-Type"] === json["Content-Type"]
    ? twilio.validateRequestWithBody(twilioToken, c.header["X-Twilio-Signature"] ?? "", c.url, c.body)
    : twilio.validateRequest(twilioToken, c.header["X-Twilio-Signature"] ?? "", c.url, Object.fromEntries(new URLSearchParams(c.body))),
  extra: [
    { name: "signed with the port", call: { ...twilioSign("a=1", now, twilioToken, ported), url }, want: "ok" },
    { name: "signed without the port", call: { ...twilioSign("a=1", now, twilioToken), url: ported }, want: "ok" },
    { name: "JSON", call: twilioJSON('{"name":"Müller"}', twilioToken), want: "ok", id: "" },
    { name: "JSON changed", call: { ...twilioJSON('{"name":"Müller"}', twilioToken), body: '{"name":"Mueller"}' }, want: "signature-invalid" },
    { name: "another URL", call: { ...twilioSign("a=1", now, twilioToken), url: url.replace("hooks", "evil") }, want: "signature-invalid" },
  ],
});

for (const [name, prefix, module, version] of [["standard-webhooks", "webhook", "standardwebhooks", "1.1.1"], ["svix", "svix", "svix", "1.99.1"]]) {
  const { Webhook } = require(module);
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const sign = (body, at, secret, id = "msg_p5jXN8AQM9LWM0D4loKWxJek") => ({
    header: { ...json, [prefix + "-id"]: id, [prefix + "-timestamp"]: String(at), [prefix + "-signature"]: new Webhook(secret).sign(id, new Date(at * 1000), body) }, body,
  });
  const good = sign('{"test": 2432232314}', now, secret);
  await provider(name, `made and checked with ${module} ${version}, sign and verify`, {
    secret, other: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx", signature: prefix + "-signature", timed: true, body: '{"test": "Müller"}', sign, id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    verify: (c) => { new Webhook(secret).verify(c.body, c.header); return true; },
    extra: [
      { name: "several signatures, the last fits", call: { ...good, header: { ...good.header, [prefix + "-signature"]: "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= v2,Gur4pLd03kjn8RYtBm5eJ1aZx/CbVfSdKTr3TyvFQi4= " + good.header[prefix + "-signature"] } }, want: "ok" },
      { name: "another id", call: { ...good, header: { ...good.header, [prefix + "-id"]: "msg_other" } }, want: "signature-invalid" },
      { name: "another version only", call: { ...good, header: { ...good.header, [prefix + "-signature"]: good.header[prefix + "-signature"].replace("v1,", "v2,") } }, want: "signature-invalid" },
    ],
  });
}

await provider("meta", byHand, {
  ...simple("X-Hub-Signature-256", (b, s) => "sha256=" + hmac("sha256", s, b, "hex")),
  body: '{"object":"whatsapp_business_account","entry":[{"id":"0","changes":[{"field":"messages","value":{"messages":[{"id":"wamid.HBg","text":{"body":"Müller \\u00e4"}}]}}]}]}', id: "wamid.HBg",
  handshakes: [
    shake("hub.challenge", get("hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=meaty%20hamster"), plain("1158201444"), { verifyToken: "meaty hamster" }),
    shake("no verify token set", get("hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=x"), plain("1158201444")),
    shake("wrong verify token", get("hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=x"), none, { verifyToken: "meaty hamster", want: "verify-token-invalid" }),
    shake("no verify token", get("hub.mode=subscribe&hub.challenge=1158201444"), none, { verifyToken: "meaty hamster", want: "verify-token-invalid" }),
    shake("another GET", get("hub.mode=other"), none),
  ],
});

const graphBody = (state) => JSON.stringify({ value: [{ id: "lsgTZMr9KwAAA", subscriptionId: "76619225", changeType: "updated", resource: "Müller", ...(state === undefined ? {} : { clientState: state }) }] });
await provider("microsoft-graph", byHand, {
  secret: "secretClientValue", other: "guess", body: "", bodyUnsigned: true, id: "lsgTZMr9KwAAA",
  sign: (b, at, secret) => ({ header: json, body: graphBody(secret) }),
  extra: [
    { name: "clientState missing", call: { header: json, body: graphBody() }, want: "signature-missing" },
    { name: "one of two forged", call: { header: json, body: graphBody("secretClientValue").replace("[", '[{"clientState":"guess"},') }, want: "signature-invalid" },
    { name: "no notification", call: { header: json, body: '{"value":[]}' }, want: "signature-missing" },
    { name: "no JSON", call: { header: json, body: "hello" }, want: "signature-missing" },
  ],
  handshakes: [
    shake("validationToken", { url: url + "&validationToken=Validation%3a+Testing+client+application+%3cb%3e" }, plain("Validation: Testing client application <b>")),
    shake("a notification", { body: graphBody("secretClientValue") }, none),
  ],
});

const zoomSign = (body, at, secret) => ({ header: { ...json, "x-zm-request-timestamp": String(at), "x-zm-signature": "v0=" + hmac("sha256", secret, `v0:${at}:${body}`, "hex") }, body });
const zoomValidation = '{"payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1654503849680,"event":"endpoint.url_validation"}';
await provider("zoom", "by hand from the provider's documentation: the one library (@zoom/rivet) does not show its check", {
  secret: "zoom-secret-token", other: "guess", signature: "x-zm-signature", timed: true, body: '{"event":"meeting.started","payload":{"topic":"Müller"}}', sign: zoomSign, id: "",
  handshakes: [
    shake("url_validation", zoomSign(zoomValidation, now, "zoom-secret-token"), object({ plainToken: "qgg8vlvZRS6UYooatFL8Aw", encryptedToken: hmac("sha256", "zoom-secret-token", "qgg8vlvZRS6UYooatFL8Aw", "hex") })),
    shake("forged", zoomSign(zoomValidation, now, "guess"), none, { want: "signature-invalid" }),
    shake("an event", zoomSign('{"event":"meeting.started"}', now, "zoom-secret-token"), none),
  ],
});

const crc = await new Promise((resolve) => {
  const log = console.log;
  console.log = () => {};
  const hook = require("twitter-webhooks").userActivity({ serverUrl: "https://x.example.com", route: "/", consumerKey: "k", consumerSecret: "It's a Secret to Everybody", accessToken: "a", accessTokenSecret: "b", environment: "e", app: { all: (route, middleware) => middleware({ method: "GET", query: { crc_token: "9b4507b3-9040-4669-9ca3-6b94edb50553" } }, { json: resolve }), use: (route, middleware) => middleware({ method: "GET", query: { crc_token: "9b4507b3-9040-4669-9ca3-6b94edb50553" } }, { json: resolve }) } });
  console.log = log;
  return hook;
});
await provider("x", "signatures by hand from the provider's documentation, the handshake made with twitter-webhooks 0.3.3", {
  ...simple("x-twitter-webhooks-signature", (b, s) => "sha256=" + hmac("sha256", s, b, "base64")), id: "",
  handshakes: [
    shake("crc_token", get("crc_token=9b4507b3-9040-4669-9ca3-6b94edb50553"), object(crc)),
    shake("another GET", { method: "GET" }, none),
  ],
});

const { verifyKey } = require("discord-interactions");
const [discordKey, discordOther] = [crypto.generateKeyPairSync("ed25519"), crypto.generateKeyPairSync("ed25519")];
const discordPublic = discordKey.publicKey.export({ type: "spki", format: "der" }).subarray(12).toString("hex");
const discordSign = (body, at, key) => ({ header: { ...json, "X-Signature-Timestamp": String(at), "X-Signature-Ed25519": crypto.sign(null, Buffer.from(at + body), key.privateKey).toString("hex") }, body });
const ping = '{"application_id":"1","id":"2","token":"t","type":1,"user":{},"version":1}';
await provider("discord", "signed by hand, checked with discord-interactions 4.4.0, verifyKey", {
  secret: discordKey, other: discordOther, secrets: [discordPublic], signature: "X-Signature-Ed25519", timed: true, id: "786008729715212338",
  body: '{"type":2,"id":"786008729715212338","data":{"name":"Müller"}}', sign: discordSign,
  verify: (c) => verifyKey(c.body, c.header["X-Signature-Ed25519"] ?? "", c.header["X-Signature-Timestamp"], discordPublic),
  handshakes: [
    shake("PING of interactions", discordSign(ping, now, discordKey), object({ type: 1 })),
    shake("PING of webhook events", discordSign('{"version":1,"application_id":"1","type":0}', now, discordKey), { status: 204, header: { "Content-Type": "application/json" }, body: "" }),
    shake("forged", discordSign(ping, now, discordOther), none, { want: "signature-invalid" }),
    shake("a webhook event", discordSign('{"version":1,"application_id":"1","type":1,"event":{"type":"ENTITLEMENT_CREATE"}}', now, discordKey), none),
  ],
});

await provider("dropbox", byHand, {
  ...simple("X-Dropbox-Signature", (b, s) => hmac("sha256", s, b, "hex")), id: "",
  handshakes: [shake("challenge", get("challenge=abc123%3D"), { ...plain("abc123="), header: { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" } }), shake("another GET", { method: "GET" }, none)],
});

const Mailgun = require("mailgun-js");
const mailgunKey = "key-3ax6xnjp29jd6fds4gc373sgvjxteol0";
const mailgunFields = (at, secret) => ({ timestamp: String(at), token: "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0", signature: hmac("sha256", secret, at + "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0", "hex") });
const mailgunSign = (body, at, secret) => ({ header: json, body: JSON.stringify({ signature: mailgunFields(at, secret), "event-data": { id: "CPgfbmQMTCKtHW6uIWtuVe", message: "Müller" } }) });
const mailgunParts = Object.entries(mailgunFields(now, mailgunKey)).map(([k, v]) => `--x\r\nContent-Disposition: form-data; name="${k}"\r\n\r\n${v}\r\n`).join("") + '--x\r\nContent-Disposition: form-data; name="attachment-1"; filename="signature"\r\n\r\nMüller\r\n--x--\r\n';
await provider("mailgun", "signed by hand, checked with mailgun-js 0.22.0, validateWebhook", {
  secret: mailgunKey, other: "guess", body: "", bodyUnsigned: true, timed: true, tolerance: 12 * 3600, sign: mailgunSign,
  id: "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0",
  // A client of its own each time, since it takes a token once; it allows a minute.
  verify: (c) => { if (c.name === "just in time" || c.name.includes("subaccount") || c.header["Content-Type"] !== json["Content-Type"]) return c.want === "ok"; const s = JSON.parse(c.body).signature; return !!s && Mailgun({ apiKey: mailgunKey, domain: "x" }).validateWebhook(s.timestamp, s.token, s.signature); },
  extra: [
    { name: "no signature", call: { header: json, body: '{"event-data":{}}' }, want: "signature-missing" },
    { name: "an event of a subaccount", call: { header: json, body: JSON.stringify({ signature: { ...mailgunFields(now, "key-of-the-subaccount"), "parent-signature": mailgunFields(now, mailgunKey).signature } }) }, want: "ok" },
    { name: "incoming mail as a form", call: { header: { "Content-Type": "application/x-www-form-urlencoded" }, body: new URLSearchParams({ ...mailgunFields(now, mailgunKey), subject: "Müller" }).toString() }, want: "ok" },
    { name: "incoming mail with a file", call: { header: { "Content-Type": "multipart/form-data; boundary=x" }, body: mailgunParts }, want: "ok" },
    { name: "incoming mail, forged", call: { header: { "Content-Type": "multipart/form-data; boundary=x" }, body: mailgunParts.replace(/name="signature"\r\n\r\n../, 'name="signature"\r\n\r\n00') }, want: "signature-invalid" },
  ],
});

const { EventWebhook } = require("@sendgrid/eventwebhook");
const [sendgridKey, sendgridOther] = [0, 1].map(() => crypto.generateKeyPairSync("ec", { namedCurve: "P-256" }));
const sendgridPublic = sendgridKey.publicKey.export({ type: "spki", format: "der" }).toString("base64");
await provider("sendgrid", "signed by hand, checked with @sendgrid/eventwebhook 8.0.0, verifySignature", {
  secret: sendgridKey, other: sendgridOther, secrets: [sendgridPublic], signature: "X-Twilio-Email-Event-Webhook-Signature", timed: true,
  body: '[{"email":"hello@world.com","event":"dropped","reason":"Müller","sg_event_id":"ZHJvcC0x"}]\r\n', id: "ZHJvcC0x",
  sign: (body, at, key) => ({ header: { ...json, "X-Twilio-Email-Event-Webhook-Timestamp": String(at), "X-Twilio-Email-Event-Webhook-Signature": crypto.sign("sha256", Buffer.from(at + body), key.privateKey).toString("base64") }, body }),
  verify: (c) => { const e = new EventWebhook(); return e.verifySignature(e.convertPublicKeyToECDSA(sendgridPublic), c.body, c.header["X-Twilio-Email-Event-Webhook-Signature"] ?? "", c.header["X-Twilio-Email-Event-Webhook-Timestamp"]); },
});

const { LinearWebhookClient } = await import("@linear/sdk/webhooks");
const linearSign = (body, at, secret) => { body = body.replace("0", String(at * 1000)); return { header: { ...json, "Linear-Delivery": "234d1a4e-b617-4388-90fe-adc3633d6b72", "Linear-Signature": hmac("sha256", secret, body, "hex") }, body }; };
await provider("linear", "by hand, checked with @linear/sdk 98.0.0, LinearWebhookClient.verify", {
  secret: "lin_wh_secret", other: "guess", signature: "Linear-Signature", timed: true, tolerance: 60, sign: linearSign, id: "234d1a4e-b617-4388-90fe-adc3633d6b72",
  body: '{"action":"create","data":{"title":"Müller"},"webhookTimestamp":0}',
  verify: (c) => new LinearWebhookClient("lin_wh_secret").verify(Buffer.from(c.body), c.header["Linear-Signature"] ?? ""),
  extra: [{ name: "no time", call: { header: { "Linear-Signature": hmac("sha256", "lin_wh_secret", "{}", "hex") }, body: "{}" }, want: "signature-invalid" }],
});

const { WebhooksHelper } = require("square");
await provider("square", "by hand, checked with square 46.0.0, WebhooksHelper.verifySignature", {
  ...simple("x-square-hmacsha256-signature", (b, s) => hmac("sha256", s, url + b, "base64")),
  body: '{"merchant_id":"MLEFBHHSJGVHD","event_id":"ac3ac95b","data":"Müller"}', id: "ac3ac95b",
  verify: (c) => WebhooksHelper.verifySignature({ requestBody: c.body, signatureHeader: c.header["x-square-hmacsha256-signature"], signatureKey: "It's a Secret to Everybody", notificationUrl: c.url }),
  extra: [{ name: "another URL", call: { url: url.replace("hooks", "evil"), header: { "x-square-hmacsha256-signature": hmac("sha256", "It's a Secret to Everybody", url + "{}", "base64") }, body: "{}" }, want: "signature-invalid" }],
});

const { Paddle } = require("@paddle/paddle-node-sdk");
const paddleSecret = "pdl_ntfset_01h";
const paddleSign = (body, at, secret) => ({ header: { ...json, "Paddle-Signature": `ts=${at};h1=${hmac("sha256", secret, `${at}:${body}`, "hex")}` }, body });
await provider("paddle", "by hand, checked with @paddle/paddle-node-sdk 3.10.0, webhooks.isSignatureValid (which allows 5 seconds)", {
  secret: paddleSecret, other: "guess", signature: "Paddle-Signature", timed: true, body: '{"event_id":"evt_01h","event_type":"transaction.created","data":"Müller"}', sign: paddleSign, id: "evt_01h",
  verify: (c) => c.name === "just in time" || new Paddle("x").webhooks.isSignatureValid(c.body, paddleSecret, c.header["Paddle-Signature"] ?? ""),
  extra: [{ name: "two signatures, the second fits", call: { header: { "Paddle-Signature": `ts=${now};h1=00;h1=${hmac("sha256", paddleSecret, `${now}:{}`, "hex")}` }, body: "{}" }, want: "ok" }],
});

const { Signature } = require("@hubspot/api-client");
const hubspotSign = (body, at, secret, address = url, signed = address) => ({ url: address, header: { ...json, "X-HubSpot-Request-Timestamp": String(at * 1000), "X-HubSpot-Signature-v3": Signature.getSignature("POST", "v3", { clientSecret: secret, requestBody: body, url: signed, timestamp: at * 1000 }) }, body });
await provider("hubspot", "made and checked with @hubspot/api-client 13.5.0, Signature.getSignature and isValid", {
  secret: "hubspot-client-secret", other: "guess", signature: "X-HubSpot-Signature-v3", timed: true, body: '[{"eventId":1,"propertyValue":"Müller"}]', sign: (b, at, s) => hubspotSign(b, at, s), id: "",
  verify: (c) => Signature.isValid({ signatureVersion: "v3", clientSecret: "hubspot-client-secret", requestBody: c.body, url: c.url.replace("%2F", "/").replace("%3a", ":"), timestamp: +c.header["X-HubSpot-Request-Timestamp"], signature: c.header["X-HubSpot-Signature-v3"] }),
  extra: [
    { name: "escapes in the URL", call: hubspotSign("[]", now, "hubspot-client-secret", url + "&a=b%2Fc%3a%20d", url + "&a=b/c:%20d"), want: "ok" },
    { name: "another method", call: { ...hubspotSign("[]", now, "hubspot-client-secret"), header: { ...hubspotSign("[]", now, "hubspot-client-secret").header, "X-HubSpot-Signature-v3": Signature.getSignature("PUT", "v3", { clientSecret: "hubspot-client-secret", requestBody: "[]", url, timestamp: now * 1000 }) } }, want: "signature-invalid" },
  ],
});

await provider("intercom", byHand, { ...simple("X-Hub-Signature", (b, s) => "sha1=" + hmac("sha1", s, b, "hex")), id: "evt_1" });
await provider("typeform", byHand, { ...simple("Typeform-Signature", (b, s) => "sha256=" + hmac("sha256", s, b, "base64")), body: '{"event_id":"01DT","form_response":"Müller"}', id: "01DT" });
await provider("calendly", byHand, {
  secret: "calendly-signing-key", other: "guess", signature: "Calendly-Webhook-Signature", timed: true, tolerance: 180, id: "", body: '{"event":"invitee.created","payload":{"name":"Müller"}}',
  sign: (body, at, secret) => ({ header: { ...json, "Calendly-Webhook-Signature": `t=${at},v1=${hmac("sha256", secret, `${at}.${body}`, "hex")}` }, body }),
});
await provider("okta", byHand, {
  ...simple("Authorization", (b, s) => s), bodyUnsigned: true, body: '{"eventType":"com.okta.event_hook","eventId":"b5a188b9"}', id: "b5a188b9",
  handshakes: [shake("one-time verification", { method: "GET", header: { "x-okta-verification-challenge": "My verification challenge" } }, object({ verification: "My verification challenge" })), shake("another GET", { method: "GET" }, none)],
});
await provider("asana", byHand, {
  ...simple("X-Hook-Signature", (b, s) => hmac("sha256", s, b, "hex")), body: '{"events":[{"resource":{"name":"Müller"}}]}', id: "",
  handshakes: [
    shake("the first", { header: { "X-Hook-Secret": "b537207f20cbfa02357cf448134da559" } }, { status: 200, header: { "X-Hook-Secret": "b537207f20cbfa02357cf448134da559" }, body: "", learnedSecret: "b537207f20cbfa02357cf448134da559" }, { secrets: [] }),
    shake("the same again", { header: { "X-Hook-Secret": "b537207f20cbfa02357cf448134da559" } }, { status: 200, header: { "X-Hook-Secret": "b537207f20cbfa02357cf448134da559" }, body: "" }, { secrets: ["b537207f20cbfa02357cf448134da559"] }),
    shake("another when one is known", { header: { "X-Hook-Secret": "guess" } }, none),
  ],
});
await provider("trello", byHand, {
  ...simple("x-trello-webhook", (b, s) => hmac("sha1", s, b + url, "base64")), body: '{"action":{"id":"51f9424bcd6e040f3c002412","data":"Müller"}}', id: "51f9424bcd6e040f3c002412",
  handshakes: [shake("HEAD", { method: "HEAD" }, { status: 200, header: {}, body: "" }), shake("GET", { method: "GET" }, none)],
  extra: [{ name: "another URL", call: { url: url.replace("hooks", "evil"), header: { "x-trello-webhook": hmac("sha1", "It's a Secret to Everybody", "{}" + url, "base64") }, body: "{}" }, want: "signature-invalid" }],
});

write("salesforce", {
  made: byHand, now, secrets: [],
  calls: [{ name: "nothing is signed", method: "POST", url, header: { "Content-Type": "text/xml; charset=utf-8", SOAPAction: '""' }, body: "<?xml version=\"1.0\" encoding=\"UTF-8\"?><soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Body><notifications xmlns=\"http://soap.sforce.com/2005/09/outbound\"><OrganizationId>00D24000000abcd</OrganizationId></notifications></soapenv:Body></soapenv:Envelope>", want: "ok", id: "" }],
  handshakes: [],
});

write("strava", {
  made: byHand, now, secrets: [],
  calls: [{ name: "nothing is signed", method: "POST", url, header: json, body: '{"aspect_type":"update","object_id":1360128428}', want: "ok", id: "" }],
  handshakes: [
    shake("hub.challenge", get("hub.verify_token=STRAVA&hub.challenge=15f7d1a91c1f40f8a748fd134752feb3&hub.mode=subscribe"), object({ "hub.challenge": "15f7d1a91c1f40f8a748fd134752feb3" }), { verifyToken: "STRAVA" }),
    shake("wrong verify token", get("hub.verify_token=x&hub.challenge=15f7d1a91c1f40f8a748fd134752feb3&hub.mode=subscribe"), none, { verifyToken: "STRAVA", want: "verify-token-invalid" }),
  ],
});

const gridEvent = (type, data) => JSON.stringify([{ id: "2d1781af", topic: "/subscriptions/x", subject: "", data, eventType: type, eventTime: "2018-01-25T22:12:19.4556811Z", metadataVersion: "1", dataVersion: "1" }]);
write("azure-event-grid", {
  made: byHand, now, secrets: [],
  calls: [
    { name: "nothing is signed", method: "POST", url, header: { ...json, "aeg-event-type": "Notification" }, body: gridEvent("Microsoft.Storage.BlobCreated", {}), want: "ok", id: "2d1781af" },
    { name: "a batch has no id", method: "POST", url, header: json, body: gridEvent("a", {}).replace("]", ',{"id":"2"}]'), want: "ok", id: "" },
  ],
  handshakes: [
    shake("SubscriptionValidationEvent", { header: { "aeg-event-type": "SubscriptionValidation" }, body: gridEvent("Microsoft.EventGrid.SubscriptionValidationEvent", { validationCode: "512d38b6-c7b8-40c8-89fe-f46f9e9622b6", validationUrl: "https://rp-eastus2.eventgrid.azure.net/" }) }, object({ validationResponse: "512d38b6-c7b8-40c8-89fe-f46f9e9622b6" })),
    shake("OPTIONS", { method: "OPTIONS", header: { "WebHook-Request-Origin": "eventgrid.azure.net", "WebHook-Request-Rate": "120" } }, { status: 200, header: { Allow: "POST", "WebHook-Allowed-Origin": "eventgrid.azure.net", "WebHook-Allowed-Rate": "*" }, body: "" }),
    shake("an event", { body: gridEvent("Microsoft.Storage.BlobCreated", {}) }, none),
  ],
});

const { CloudEvent, HTTP } = require("cloudevents");
const event = new CloudEvent({ id: "A234-1234-1234", source: "https://github.com/cloudevents", type: "com.github.pull_request.opened", subject: "123", time: "2018-04-05T17:31:00Z", data: { name: "Müller" } });
const inMode = (mode, token) => { const m = mode(event); return { header: { ...m.headers, ...(token ? { Authorization: "Bearer " + token } : {}) }, body: m.body }; };
const eventID = "https://github.com/cloudevents A234-1234-1234";
await provider("cloudevents", "made with cloudevents 10.0.0, HTTP.binary and HTTP.structured; the handshake by hand from its web-hook specification", {
  secret: "bearer-secret", other: "guess", signature: "Authorization", bodyUnsigned: true, id: eventID, sign: (b, at, secret) => inMode(HTTP.binary, secret),
  extra: [
    { name: "structured", call: inMode(HTTP.structured, "bearer-secret"), want: "ok", id: eventID },
    { name: "a batch of two", call: { header: { "Content-Type": "application/cloudevents-batch+json", Authorization: "bearer bearer-secret" }, body: '[{"id":"1","source":"a","type":"t"},{"id":"2","source":"a","type":"t"}]' }, want: "ok", id: "" },
    { name: "another scheme", call: { header: { Authorization: "Basic bearer-secret" }, body: "" }, want: "signature-invalid" },
  ],
  handshakes: [
    shake("OPTIONS", { method: "OPTIONS", header: { "WebHook-Request-Origin": "eventemitter.example.com" } }, { status: 200, header: { Allow: "POST", "WebHook-Allowed-Origin": "eventemitter.example.com" }, body: "" }),
    shake("OPTIONS without an origin", { method: "OPTIONS" }, none),
    shake("a strange origin", { method: "OPTIONS", header: { "WebHook-Request-Origin": "a b<c>" } }, none),
  ],
});

const Validator = require("sns-validator");
const pem = (name) => {
  const out = (ext) => path.join("/tmp", `sns-${process.pid}-${name}.${ext}`);
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=sns.amazonaws.com", "-days", "36500", "-keyout", out("key"), "-out", out("pem")], { stdio: "pipe" });
  const read = [out("key"), out("pem")].map((f) => { const text = fs.readFileSync(f, "utf8"); fs.rmSync(f); return text; });
  return { key: read[0], certificate: read[1] };
};
const [snsKey, snsOther] = [pem("a"), pem("b")];
const certURL = "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem";
https.get = (address, callback) => {
  const response = new EventEmitter();
  response.statusCode = address === certURL ? 200 : 404;
  setImmediate(() => { callback(response); response.emit("data", Buffer.from(snsKey.certificate)); response.emit("end"); });
  return new EventEmitter();
};
const topic = "arn:aws:sns:us-west-2:123456789012:MyTopic";
const snsSign = (message, key, version = "2") => {
  const names = message.Type === "Notification" ? ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"] : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  const text = names.filter((n) => n in message).map((n) => `${n}\n${message[n]}\n`).join("");
  const Signature = crypto.sign(version === "1" ? "RSA-SHA1" : "RSA-SHA256", Buffer.from(text), key.key).toString("base64");
  return { header: { "Content-Type": "text/plain; charset=UTF-8", "x-amz-sns-message-type": message.Type }, body: JSON.stringify({ ...message, SignatureVersion: version, Signature, SigningCertURL: certURL }, null, 2) };
};
const notification = { Type: "Notification", MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324", TopicArn: topic, Subject: "My First Message", Message: "Hello Müller!\n", Timestamp: "2012-05-02T00:54:06.655Z" };
const confirmation = { Type: "SubscriptionConfirmation", MessageId: "165545c9-2a5c-472c-8df2-7ff2be2b3b1b", Token: "2336412f37", TopicArn: topic, Message: "You have chosen to subscribe.", SubscribeURL: `https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${topic}&Token=2336412f37`, Timestamp: "2012-04-26T20:45:04.751Z" };
const good = snsSign(notification, snsKey);
const elsewhere = (address) => ({ ...good, body: good.body.replace(certURL, address) });
await provider("aws-sns", "signed by hand, checked with sns-validator 0.3.5", {
  secret: snsKey, other: snsOther, secrets: [topic], body: "", id: notification.MessageId, keys: { [certURL]: snsKey.certificate },
  sign: (b, at, key) => snsSign(notification, key), bodyUnsigned: true,
  verify: (c) => c.name.startsWith("(stricter)") ? c.want === "ok" : new Promise((resolve) => new Validator().validate(c.body, (e) => resolve(!e))),
  extra: [
    { name: "body changed", call: { ...good, body: change(good.body) }, want: "signature-invalid" },
    { name: "SHA-1, no subject", call: snsSign((({ Subject, ...rest }) => rest)(notification), snsKey, "1"), want: "ok" },
    { name: "no signature", call: { ...good, body: JSON.stringify(notification) }, want: "signature-missing" },
    { name: "raw message", call: { header: { "x-amz-sns-rawdelivery": "true" }, body: "Hello" }, want: "signature-missing" },
    { name: "a certificate of others", call: elsewhere("https://sns.us-west-2.amazonaws.com.evil.example/SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem"), want: "signature-invalid" },
    { name: "a certificate without https", call: elsewhere(certURL.replace("https", "http")), want: "signature-invalid" },
    { name: "(stricter) a certificate in a bucket", call: elsewhere("https://sns.s3-us-west-2.amazonaws.com/SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem"), want: "signature-invalid" },
    { name: "(stricter) another topic", call: snsSign({ ...notification, TopicArn: topic + "2" }, snsKey), want: "signature-invalid" },
    { name: "(stricter) a second Message", call: { ...good, body: good.body.replace("{", '{"Message":"evil",') }, want: "signature-missing" },
    { name: "(stricter) a message in other case", call: { ...good, body: good.body.replace('"Message":', '"Message":"evil","message":') }, want: "signature-invalid" },
  ],
  handshakes: [
    shake("SubscriptionConfirmation", snsSign(confirmation, snsKey), { status: 200, header: {}, body: "", fetch: confirmation.SubscribeURL }),
    shake("forged", snsSign(confirmation, snsOther), none, { want: "signature-invalid" }),
    shake("a SubscribeURL of others", snsSign({ ...confirmation, SubscribeURL: "https://evil.example/?Action=ConfirmSubscription" }, snsKey), none),
    shake("a notification", good, none),
  ],
});

const { OAuth2Client } = require("google-auth-library");
const [googleKey, googleOther] = [0, 1].map(() => crypto.generateKeyPairSync("rsa", { modulusLength: 2048 }));
const account = "push@project.iam.gserviceaccount.com";
const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const googleSign = (body, at, key, claims = {}, kid = "k1") => {
  const text = encode({ alg: "RS256", kid, typ: "JWT" }) + "." + encode({ aud: url, azp: "1", email: account, email_verified: true, exp: at + 3600, iat: at, iss: "https://accounts.google.com", sub: "1", ...claims });
  return { header: { ...json, Authorization: `Bearer ${text}.${crypto.sign("sha256", Buffer.from(text), key.privateKey).toString("base64url")}` }, body };
};
const pubsubBody = '{"message":{"data":"TcO8bGxlcg==","messageId":"2070443601311540"},"subscription":"projects/p/subscriptions/s"}';
const unsigned = googleSign(pubsubBody, now, googleKey).header.Authorization.split(".");
await provider("google-pubsub", "signed by hand, checked with google-auth-library 10.9.1, verifySignedJwtWithCertsAsync", {
  secret: googleKey, other: googleOther, secrets: [account], signature: "Authorization", body: pubsubBody, bodyUnsigned: true, sign: googleSign, id: "2070443601311540",
  keys: { "https://www.googleapis.com/oauth2/v3/certs": JSON.stringify({ keys: [{ ...googleKey.publicKey.export({ format: "jwk" }), kid: "k1", alg: "RS256", use: "sig" }] }) },
  verify: async (c) => c.name.startsWith("(stricter)") ? c.want === "ok" : !!(await new OAuth2Client().verifySignedJwtWithCertsAsync((c.header.Authorization ?? "").slice(7), { k1: googleKey.publicKey.export({ type: "spki", format: "pem" }) }, url, ["https://accounts.google.com", "accounts.google.com"])),
  extra: [
    { name: "expired", call: googleSign(pubsubBody, now - 4000, googleKey), want: "signature-expired" },
    { name: "from the future", call: googleSign(pubsubBody, now + 4000, googleKey), want: "signature-expired" },
    { name: "another audience", call: googleSign(pubsubBody, now, googleKey, { aud: "https://evil.example" }), want: "signature-invalid" },
    { name: "another issuer", call: googleSign(pubsubBody, now, googleKey, { iss: "https://evil.example" }), want: "signature-invalid" },
    { name: "an unknown key", call: googleSign(pubsubBody, now, googleKey, {}, "k2"), want: "signature-invalid" },
    { name: "(stricter) another service account", call: googleSign(pubsubBody, now, googleKey, { email: "other@project.iam.gserviceaccount.com" }), want: "signature-invalid" },
    { name: "(stricter) no service account", call: googleSign(pubsubBody, now, googleKey, { email: "push@gmail.com" }), want: "signature-invalid" },
    { name: "(stricter) an address that is not verified", call: googleSign(pubsubBody, now, googleKey, { email_verified: false }), want: "signature-invalid" },
    { name: "alg none", call: { header: { Authorization: `Bearer ${encode({ alg: "none", kid: "k1" })}.${unsigned[1]}.` }, body: pubsubBody }, want: "signature-invalid" },
    { name: "signed with the public key as a shared one", call: (() => { const text = encode({ alg: "HS256", kid: "k1" }) + "." + unsigned[1]; return { header: { Authorization: `Bearer ${text}.${hmac("sha256", googleKey.publicKey.export({ type: "spki", format: "pem" }), text, "base64url")}` }, body: pubsubBody }; })(), want: "signature-invalid" },
  ],
});
