// Packs the editor for browsers that take brotli, which is a seventh smaller than gzip. The name has the
// hash of what was packed: the server never sends another one.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";

const folder = "../page/static/";
const content = readFileSync(folder + "editor.js");
const hash = createHash("sha256").update(content).digest("hex").slice(0, 12);
for (const file of readdirSync(folder)) {
  if (file.endsWith(".br")) rmSync(folder + file);
}
writeFileSync(`${folder}editor.${hash}.js.br`, brotliCompressSync(content));
