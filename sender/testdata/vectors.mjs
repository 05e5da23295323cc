// What the scripts beside this one share: each writes vectors.json of the senders in known,
// the folder that is their argument.
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";

const folder = process.argv[2];
export const now = 2100000000; // in 2036: openssl makes certificates that begin today
export const url = "https://hooks.example.com/api/v3/webhook.receive?token=5b9fd5d6-7a6c-4b8e-9a43-27c1c2a3d4e5";
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...a) { a.length ? super(...a) : super(now * 1000); }
  static now() { return now * 1000; }
};

export const hmac = (algorithm, secret, text, encoding) => crypto.createHmac(algorithm, secret).update(text).digest(encoding);
export const json = { "Content-Type": "application/json" };
export const change = (body) => body.replace("Müller", "Mueller");

// provider writes the file of one. sign(body, at, secret) gives a call; verify,
// if there is one, is the library's and must agree on every call.
export async function provider(name, made, o) {
  const { secret, other, sign, verify, timed, tolerance = 300, signature, id, extra = [], handshakes = [], keys } = o;
  const calls = [];
  const add = async (name, call, want, id) => {
    call = { name, method: "POST", url, ...call, want };
    if (id !== undefined) call.id = id;
    if (verify && want !== "signature-expired") {
      let accepted = false;
      try { accepted = await verify(call); } catch (e) { if (want === "ok") throw e; }
      if (accepted !== (want === "ok")) throw new Error(`${made}: the library says ${accepted} to ${name}`);
    }
    calls.push(call);
  };
  const good = await sign(o.body, now, secret);
  await add("good", good, "ok", id);
  if (!o.bodyUnsigned) {
    await add("body changed", { ...good, body: change(good.body) }, "signature-invalid");
    await add("line end added to the body", { ...good, body: good.body + "\n" }, "signature-invalid");
  }
  await add("signed with another secret", await sign(o.body, now, other), "signature-invalid");
  if (signature) {
    const header = { ...good.header };
    delete header[signature];
    await add("signature missing", { ...good, header }, "signature-missing");
    await add("signature cut short", { ...good, header: { ...good.header, [signature]: good.header[signature].slice(0, -4) } }, "signature-invalid");
    await add("signature empty", { ...good, header: { ...good.header, [signature]: "" } }, "signature-missing");
  }
  if (timed) {
    await add("just in time", await sign(o.body, now - tolerance + 1, secret), "ok");
    await add("too old", await sign(o.body, now - tolerance - 2, secret), "signature-expired");
    await add("from the future", await sign(o.body, now + tolerance + 2, secret), "signature-expired");
  }
  for (const e of extra) await add(e.name, e.call, e.want, e.id);
  write(name, { made, now, secrets: o.secrets ?? [secret], keys, calls, handshakes });
}

export function write(name, file) {
  fs.writeFileSync(path.join(folder, name, "vectors.json"), JSON.stringify(file, null, 2) + "\n");
}

export const shake = (name, call, answer, more = {}) => ({ name, method: "POST", url, header: {}, body: "", ...call, answer, ...more });
export const get = (query) => ({ method: "GET", url: url + "&" + query });
export const plain = (body) => ({ status: 200, header: { "Content-Type": "text/plain; charset=utf-8" }, body });
export const object = (value) => ({ status: 200, header: { "Content-Type": "application/json" }, body: JSON.stringify(value) });
export const none = null; // no handshake at all

// simple is a provider that signs the body and nothing else.
export const simple = (header, value, more) => ({
  secret: "It's a Secret to Everybody", other: "guess", signature: header,
  body: '{"id": "evt_1", "name": "Müller", "amount": 10.0}',
  sign: (body, at, secret) => ({ header: { ...json, ...more?.header, [header]: value(body, secret) }, body }),
  ...more,
});

export const byHand = "by hand from the provider's documentation: no library signs or checks";
