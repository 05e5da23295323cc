// Makes the vectors of providers by hand, from their documentation, with examples that
// they publish where there are some:
//
//   node sender/testdata/byhand.mjs sender/known
//
// It needs openssl for the certificate of paypal.
import { execFileSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import zlib from "node:zlib";
import { byHand, hmac, json, none, now, object, plain, provider, shake, simple, url, write } from "./vectors.mjs";

const hex = (b, s) => hmac("sha256", s, b, "hex");
const base64 = (b, s) => hmac("sha256", s, b, "base64");
const secret = "It's a Secret to Everybody";
const zulu = (at) => new Date(at * 1000).toISOString().replace(".000", "");
const body = '{"id": "evt_1", "name": "Müller", "amount": 10.0}';

// Those that sign the body and nothing else, with where the delivery id is.
for (const [name, header, value, more, id] of [
  ["circleci", "circleci-signature", (b, s) => "v1=" + hex(b, s), {}, "evt_1"],
  ["docusign", "X-DocuSign-Signature-1", base64, {}, ""],
  ["gitea", "X-Gitea-Signature", hex, { "X-Gitea-Delivery": "f6266f16" }, "f6266f16"],
  ["grafana", "X-Grafana-Alerting-Signature", hex, {}, ""],
  ["jira", "X-Hub-Signature", (b, s) => "sha256=" + hex(b, s), { "X-Atlassian-Webhook-Identifier": "1699" }, "1699"],
  ["lemon-squeezy", "X-Signature", hex, {}, ""],
  ["notion", "X-Notion-Signature", (b, s) => "sha256=" + hex(b, s), {}, "evt_1"],
  ["razorpay", "X-Razorpay-Signature", hex, { "X-Razorpay-Event-Id": "Evt1" }, "Evt1"],
  ["sentry", "Sentry-Hook-Signature", hex, { "Request-ID": "r1" }, "r1"],
  ["vercel", "x-vercel-signature", (b, s) => hmac("sha1", s, b, "hex"), {}, "evt_1"],
  ["xero", "x-xero-signature", base64, {}, ""],
]) {
  const extra = [];
  if (name === "circleci") extra.push({ name: "two signatures, the second fits", call: { header: { [header]: "v1=00," + value("{}", secret) }, body: "{}" }, want: "ok" });
  await provider(name, byHand, { ...simple(header, value, { header: more }), id, extra });
}

await provider("airtable", byHand, {
  ...simple("X-Airtable-Content-MAC", (b, s) => "hmac-sha256=" + hex(b, Buffer.from(s, "base64"))), id: "",
  secret: "uYtvFT8hQbaqPmXMrUnfJQ==", other: "AAAA",
});
await provider("gocardless", byHand, { ...simple("Webhook-Signature", hex), body: '{"events":[{"id":"EV1","name":"Müller"}],"meta":{"webhook_id":"WB1"}}', id: "WB1" });
await provider("line", byHand, { ...simple("x-line-signature", base64), body: '{"destination":"U1","events":[{"type":"message","webhookEventId":"01H","name":"Müller"}]}', id: "01H" });
await provider("pagerduty", byHand, {
  ...simple("X-PagerDuty-Signature", (b, s) => "v1=" + hex(b, s)), body: '{"event":{"id":"01CH","data":"Müller"}}', id: "01CH",
  extra: [{ name: "one signature for each secret", call: { header: { "X-PagerDuty-Signature": "v1=" + hex("{}", "other") + ",v1=" + hex("{}", secret) }, body: "{}" }, want: "ok" }],
});
await provider("woocommerce", byHand, {
  ...simple("X-WC-Webhook-Signature", base64, { header: { "X-WC-Webhook-Delivery-ID": "d1" } }), id: "d1",
  handshakes: [
    shake("ping", { body: "webhook_id=12" }, { status: 200, header: {}, body: "" }),
    shake("a form with more", { body: "webhook_id=12&x=1" }, none),
  ],
});

// Those that sign the time as well.
const timed = async (name, header, sign, more = {}) => provider(name, byHand, { secret, other: "guess", signature: header, timed: true, body, id: "", sign, ...more });
await timed("buildkite", "X-Buildkite-Signature", (b, at, s) => ({ header: { ...json, "X-Buildkite-Signature": `timestamp=${at},signature=${hex(at + "." + b, s)}` }, body: b }));
await timed("mux", "Mux-Signature", (b, at, s) => ({ header: { ...json, "Mux-Signature": `t=${at},v1=${hex(at + "." + b, s)}` }, body: b }), { id: "evt_1" });
await timed("klaviyo", "Klaviyo-Signature", (b, at, s) => ({ header: { ...json, "Klaviyo-Timestamp": String(at), "Klaviyo-Signature": hex(b + at, s) }, body: b }));
await timed("zendesk", "X-Zendesk-Webhook-Signature", (b, at, s) => ({ header: { ...json, "X-Zendesk-Webhook-Invocation-Id": "01F", "X-Zendesk-Webhook-Signature-Timestamp": zulu(at), "X-Zendesk-Webhook-Signature": base64(zulu(at) + b, s) }, body: b }), { id: "01F" });
const boxBody = '{"type":"webhook_event","webhook":{"id":"1234567890"},"trigger":"FILE.UPLOADED","source":{"id":"1234567890","type":"file","name":"Test.txt"}}';
await timed("box", "BOX-SIGNATURE-PRIMARY", (b, at, s) => ({ header: { ...json, "BOX-DELIVERY-TIMESTAMP": zulu(at), "BOX-SIGNATURE-PRIMARY": base64(b + zulu(at), s) }, body: b }), {
  tolerance: 600, id: "evt_1", secrets: [secret, "SamplePrimaryKey"],
  extra: [{ name: "the example of Box's libraries", call: { header: { "BOX-DELIVERY-TIMESTAMP": "2020-01-01T00:00:00-07:00", "BOX-SIGNATURE-PRIMARY": "6TfeAW3A1PASkgboxxA5yqHNKOwFyMWuEXny/FPD5hI=" }, body: boxBody }, want: "signature-expired" }],
});
const twitchSign = (b, at, s, type = "notification") => ({ header: { ...json, "Twitch-Eventsub-Message-Id": "e76c6bd4", "Twitch-Eventsub-Message-Timestamp": zulu(at), "Twitch-Eventsub-Message-Type": type, "Twitch-Eventsub-Message-Signature": "sha256=" + hex("e76c6bd4" + zulu(at) + b, s) }, body: b });
const twitchChallenge = '{"challenge":"pogchamp-kappa-360noscope-vohiyo","subscription":{"id":"f1c2a387"}}';
await timed("twitch", "Twitch-Eventsub-Message-Signature", twitchSign, {
  tolerance: 600, id: "e76c6bd4",
  handshakes: [
    shake("webhook_callback_verification", twitchSign(twitchChallenge, now, secret, "webhook_callback_verification"), plain("pogchamp-kappa-360noscope-vohiyo")),
    shake("forged", twitchSign(twitchChallenge, now, "guess", "webhook_callback_verification"), none, { want: "signature-invalid" }),
    shake("a notification", twitchSign(twitchChallenge, now, secret), none),
  ],
});
for (const name of ["clerk", "resend"]) {
  const key = (s) => Buffer.from(s.slice("whsec_".length), "base64");
  await timed(name, "svix-signature", (b, at, s) => ({ header: { ...json, "svix-id": "msg_1", "svix-timestamp": String(at), "svix-signature": "v1," + base64(`msg_1.${at}.${b}`, key(s)) }, body: b }), {
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", other: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx", id: "msg_1",
  });
}

// Those that send the secret itself.
const bearing = async (name, header, value, more = {}) => provider(name, byHand, { ...simple(header, (b, s) => value(s)), bodyUnsigned: true, id: "", ...more });
await bearing("alertmanager", "Authorization", (s) => "Bearer " + s);
await bearing("bigcommerce", "X-Webhook-Secret", (s) => s, { body: '{"scope":"store/order/created","hash":"3f9ea420","name":"Müller"}', id: "3f9ea420" });
await bearing("telegram", "X-Telegram-Bot-Api-Secret-Token", (s) => s, { body: '{"update_id":10000,"message":{"text":"Müller"}}', id: "10000" });
for (const [name, id, event] of [["chargebee", "evt_1", body], ["pipedrive", "m1", '{"meta":{"id":"m1"},"data":{"name":"Müller"}}'], ["postmark", "", body]]) {
  await bearing(name, "Authorization", (s) => "Basic " + Buffer.from(s).toString("base64"), {
    secret: "ada:It's a Secret", other: "ada:guess", id, body: event,
    extra: [{ name: "a bearer token", call: { header: { Authorization: "Bearer ada:It's a Secret" }, body: event }, want: "signature-invalid" }],
  });
}
await provider("figma", byHand, {
  secret, other: "guess", body: "", bodyUnsigned: true, id: "",
  sign: (b, at, s) => ({ header: json, body: JSON.stringify({ event_type: "FILE_UPDATE", file_name: "Müller", passcode: s }) }),
  extra: [
    { name: "passcode missing", call: { header: json, body: '{"event_type":"PING"}' }, want: "signature-missing" },
    { name: "passcode is no text", call: { header: json, body: '{"passcode":1}' }, want: "signature-missing" },
  ],
});

// Those with a JWT.
const url64 = (value) => Buffer.from(value).toString("base64url");
const token = (claims, s, head = { alg: "HS256", typ: "JWT" }) => {
  const text = url64(JSON.stringify(head)) + "." + url64(JSON.stringify(claims));
  return text + "." + hmac("sha256", s, text, "base64url");
};
const digest = (b) => crypto.createHash("sha256").update(b).digest("hex");
const long = "It's a Secret to Everybody and long enough"; // HS256 takes 32 bytes
const none256 = (claims) => url64('{"alg":"none"}') + "." + url64(JSON.stringify(claims)) + ".";
await provider("netlify", byHand, {
  ...simple("X-Webhook-Signature", (b, s) => token({ iss: "netlify", sha256: digest(b) }, s)), secret: long, other: long + "!", id: "",
  extra: [
    { name: "another issuer", call: { header: { "X-Webhook-Signature": token({ iss: "evil", sha256: digest("{}") }, long) }, body: "{}" }, want: "signature-invalid" },
    { name: "no digest", call: { header: { "X-Webhook-Signature": token({ iss: "netlify" }, long) }, body: "{}" }, want: "signature-invalid" },
    { name: "not signed", call: { header: { "X-Webhook-Signature": none256({ iss: "netlify", sha256: digest("{}") }) }, body: "{}" }, want: "signature-invalid" },
  ],
});
const vonageSign = (b, at, s) => ({ header: { ...json, Authorization: "Bearer " + token({ iat: at, jti: "c3d9", iss: "Vonage", payload_hash: digest(b), api_key: "a1b2c3d4" }, s) }, body: b });
await provider("vonage", byHand, {
  secret: long, other: long + "!", signature: "Authorization", timed: true, body, id: "", sign: vonageSign,
  extra: [{ name: "not signed", call: { header: { Authorization: "Bearer " + none256({ iat: now, payload_hash: digest("{}") }) }, body: "{}" }, want: "signature-invalid" }],
});
const mondayBody = '{"event":{"type":"create_pulse","pulseName":"Müller","triggerUuid":"504b2eb7"}}';
await provider("monday", byHand, {
  ...simple("Authorization", (b, s) => token({ iat: now, exp: now + 300, aud: url }, s)), secret: long, other: long + "!", bodyUnsigned: true, body: mondayBody, id: "504b2eb7",
  extra: [
    { name: "expired", call: { header: { Authorization: token({ iat: now - 900, exp: now - 600 }, long) }, body: mondayBody }, want: "signature-expired" },
    { name: "without an end", call: { header: { Authorization: token({ iat: now }, long) }, body: mondayBody }, want: "signature-invalid" },
  ],
  handshakes: [
    shake("challenge", { header: json, body: '{"challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}' }, object({ challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" })),
    shake("an event", { header: json, body: mondayBody }, none),
  ],
});

// Those with keys of their own.
const [wiseKey, wiseOther] = [0, 1].map(() => crypto.generateKeyPairSync("rsa", { modulusLength: 2048 }));
await provider("wise", byHand, {
  secret: wiseKey, other: wiseOther, secrets: [wiseKey.publicKey.export({ type: "spki", format: "pem" })], signature: "X-Signature-SHA256", body, id: "72a1",
  sign: (b, at, key) => ({ header: { ...json, "X-Delivery-Id": "72a1", "X-Signature-SHA256": crypto.sign("sha256", Buffer.from(b), key.privateKey).toString("base64") }, body: b }),
});
const adyenKey = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";
const adyenItem = (signature, value = 1130) => JSON.stringify({ live: "false", notificationItems: [{ NotificationRequestItem: { pspReference: "7914073381342284", merchantAccountCode: "TestMerchant", merchantReference: "TestPayment-1407325143704", amount: { value, currency: "EUR" }, eventCode: "AUTHORISATION", success: "true", additionalData: signature ? { hmacSignature: signature } : {} } }] });
const adyenGood = "coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=";
await provider("adyen", "by hand, with the example of Adyen's libraries", {
  ...simple("HmacSignature", (b, s) => base64(b, Buffer.from(s, "hex"))), secret: adyenKey, other: "00", id: "",
  extra: [
    { name: "the example of Adyen's libraries", call: { header: json, body: adyenItem(adyenGood) }, want: "ok" },
    { name: "another amount", call: { header: json, body: adyenItem(adyenGood, 1131) }, want: "signature-invalid" },
    { name: "a notification without a signature", call: { header: json, body: adyenItem() }, want: "signature-missing" },
    { name: "a second notification, forged", call: { header: json, body: adyenItem(adyenGood).replace("[{", '[{"NotificationRequestItem":{"additionalData":{"hmacSignature":"AAAA"}}},{') }, want: "signature-invalid" },
    { name: "no notification", call: { header: json, body: '{"notificationItems":[]}' }, want: "signature-missing" },
  ],
});

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "paypal-"));
const [paypalKey, paypalCert] = ["key.pem", "cert.pem"].map((n) => path.join(scratch, n));
execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", paypalKey, "-out", paypalCert, "-days", "9000", "-subj", "/CN=messageverificationcerts.paypal.com"], { stdio: "ignore" });
const paypalURL = "https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-5edc0ebc";
const paypalSign = (b, at, s, address = paypalURL) => {
  const text = `b2384410-f8d2-11e4|${zulu(at)}|${s}|${zlib.crc32(b)}`;
  return { header: { ...json, "PAYPAL-TRANSMISSION-ID": "b2384410-f8d2-11e4", "PAYPAL-TRANSMISSION-TIME": zulu(at), "PAYPAL-CERT-URL": address, "PAYPAL-AUTH-ALGO": "SHA256withRSA", "PAYPAL-TRANSMISSION-SIG": crypto.sign("sha256", Buffer.from(text), fs.readFileSync(paypalKey)).toString("base64") }, body: b };
};
const paypalEvent = body.replace("evt_1", "WH-1");
await provider("paypal", byHand, {
  secret: "8PT597110X687430LKGECATA", other: "another webhook", signature: "PAYPAL-TRANSMISSION-SIG", body: paypalEvent, id: "WH-1", sign: paypalSign,
  keys: { [paypalURL]: fs.readFileSync(paypalCert, "utf8"), "https://evil.example.com/v1/notifications/certs/CERT-1": fs.readFileSync(paypalCert, "utf8"), "https://api.paypal.com/v1/notifications/certs/CERT-1/../../x": fs.readFileSync(paypalCert, "utf8") },
  extra: [
    { name: "a certificate of a stranger", call: paypalSign("{}", now, "8PT597110X687430LKGECATA", "https://evil.example.com/v1/notifications/certs/CERT-1"), want: "signature-invalid" },
    { name: "another path", call: paypalSign("{}", now, "8PT597110X687430LKGECATA", "https://api.paypal.com/v1/notifications/certs/CERT-1/../../x"), want: "signature-invalid" },
  ],
});
fs.rmSync(scratch, { recursive: true });

// Plaid: keys are asked for with the client's credentials, and each token has the body's digest.
const [plaidKey, plaidOther] = [0, 1].map(() => crypto.generateKeyPairSync("ec", { namedCurve: "P-256" }));
const plaidAsk = (id) => `https://production.plaid.com/webhook_verification_key/get#${JSON.stringify({ client_id: "6f1c", key_id: id, secret: "s3cret" })}`;
const plaidGives = (key, id, expired_at) => JSON.stringify({ key: { ...key.publicKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: id, created_at: now - 86400, expired_at }, request_id: "RZ6Omi1bzzwDaLo" });
const plaidJWT = (body, { key = plaidKey, kid = "bfbd5111", at = now, alg = "ES256" } = {}) => {
  const text = [{ alg, kid, typ: "JWT" }, { iat: at, request_body_sha256: crypto.createHash("sha256").update(body).digest("hex") }].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  const signature = alg === "none" ? "" : alg === "HS256" ? crypto.createHmac("sha256", key.publicKey.export({ format: "pem", type: "spki" })).update(text).digest("base64url") : crypto.sign("sha256", Buffer.from(text), { key: key.privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url");
  return text + "." + signature;
};
const plaidBody = '{"webhook_type":"TRANSACTIONS","webhook_code":"SYNC_UPDATES_AVAILABLE","item_id":"wz666MBjYWTp2PDzzggYhM6oWWmBb"}';
const plaidCall = (name, token, want, body = plaidBody) => ({ name, method: "POST", url, header: { ...json, ...(token ? { "Plaid-Verification": token } : {}) }, body, want });
write("plaid", {
  made: byHand, now, secrets: ["6f1c:s3cret"],
  keys: { [plaidAsk("bfbd5111")]: plaidGives(plaidKey, "bfbd5111", null), [plaidAsk("old")]: plaidGives(plaidKey, "old", now - 60) },
  calls: [
    plaidCall("good", plaidJWT(plaidBody), "ok"),
    plaidCall("another body", plaidJWT(plaidBody), "signature-invalid", plaidBody + " "),
    plaidCall("another key", plaidJWT(plaidBody, { key: plaidOther }), "signature-invalid"),
    plaidCall("a key that has ended", plaidJWT(plaidBody, { kid: "old" }), "signature-invalid"),
    plaidCall("an unknown key", plaidJWT(plaidBody, { kid: "new" }), "sender-keys-unavailable"),
    plaidCall("an address as a key id", plaidJWT(plaidBody, { kid: "x\"},#" }), "signature-invalid"),
    plaidCall("no algorithm", plaidJWT(plaidBody, { alg: "none" }), "signature-invalid"),
    plaidCall("the public key as a shared one", plaidJWT(plaidBody, { alg: "HS256" }), "signature-invalid"),
    plaidCall("too old", plaidJWT(plaidBody, { at: now - 301 }), "signature-expired"),
    plaidCall("no token", "", "signature-missing"),
  ],
  handshakes: [],
});
