// Checks pages with pa11y (WCAG 2.1 AA), which the folder of modules in PA11Y has:
// in both themes, wide and on a small phone. What to check comes as JSON on
// standard input; what is found is printed.
const { createRequire } = require("node:module");
const load = createRequire(process.env.PA11Y + "/");
const pa11y = load("pa11y"), puppeteer = load("puppeteer");

async function main() {
  const { base, cookie, paths } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  const browser = await puppeteer.launch({ executablePath: process.env.PUPPETEER_EXECUTABLE_PATH, args: ["--no-sandbox"] });
  let found = 0;
  for (const [theme, width] of [["light", 1280], ["dark", 320]]) {
    for (const path of paths) {
      const page = await browser.newPage();
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await page.setViewport({ width, height: 900 });
      const { issues } = await pa11y(base + path, { browser, page, headers: { Cookie: cookie, Accept: "text/html" }, timeout: 60000, viewport: { width, height: 900 } });
      for (const i of issues) console.log(`${path}, ${theme}, ${width}: ${i.message} ${i.code} ${i.selector}`);
      found += issues.length;
      await page.close();
    }
  }
  await browser.close();
  process.exitCode = found > 0 ? 1 : 0;
}
main().catch((error) => { console.log(error); process.exit(2); });
