// Serves the model of a GGUF file as an OpenAI-compatible endpoint on loopback, and prints its address:
//   node small_model.mjs /path/to/node-llama-cpp/dist/index.js model.gguf
// An answer is held to JSON by a grammar: a text for the user, or a call of one of the tools.

import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [library, modelPath] = process.argv.slice(2);
const { getLlama, LlamaCompletion, LlamaLogLevel } = await import(pathToFileURL(library));
const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: 8192, sequences: 2, threads: 1 });
// What was read stays read as long as the next prompt begins with it: one for each beginning.
const [withTools, without] = [0, 1].map(
  () => new LlamaCompletion({ contextSequence: context.getSequence() }),
);
const LONGEST = 120; // tokens of an answer

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const FORM =
  'Answer with one JSON object: {"text": "what you say to the user"}, or ' +
  '{"tool": "its name", "arguments": {…}} for one of these tools:\n';

function asSchema({ name, parameters }) {
  const call = { tool: { const: name }, arguments: parameters };
  return { type: "object", properties: call, required: ["tool", "arguments"] };
}

// A ChatML prompt; results of tools are messages of the user, as the model knows no other role.
function asPrompt({ messages, tools = [] }) {
  const offered = tools.map(({ function: { name, description, parameters } }) =>
    `${name}(${Object.keys(parameters.properties).join(", ")}): ${description}`);
  const about = offered.length ? FORM + offered.join("\n\n") : 'Answer as {"text": "…"}.';
  const parts = messages.map(({ role, content, tool_calls: calls = [] }, index) => {
    const made = calls.map(({ function: { name, arguments: given } }) =>
      `{"tool": "${name}", "arguments": ${given}}`);
    const said = content && role === "assistant" ? JSON.stringify({ text: content }) : content;
    const text = [index ? "" : about, said, ...made].filter(Boolean).join("\n");
    return `<|im_start|>${role === "tool" ? "user" : role}\n${text}<|im_end|>\n`;
  });
  return `${parts.join("")}<|im_start|>assistant\n`;
}

async function answer(body) {
  const schemas = [TEXT, ...(body.tools ?? []).map((tool) => asSchema(tool.function))];
  const grammar = await llama.createGrammarForJsonSchema({ oneOf: schemas });
  const tokens = model.tokenize(asPrompt(body), true);
  const maxTokens = Math.min(body.max_tokens || LONGEST, LONGEST);
  if (tokens.length + maxTokens > context.contextSize) throw new Error("the prompt is too long");
  const reader = body.tools ? withTools : without;
  const written = await reader.generateCompletion(tokens, {
    grammar, maxTokens, temperature: 0, disableContextShift: true,
  });
  const usage = { prompt_tokens: tokens.length, completion_tokens: model.tokenize(written).length };
  return { choices: [{ index: 0, message: asMessage(written), finish_reason: "stop" }], usage };
}

function asMessage(written) {
  let found;
  try {
    found = JSON.parse(written);
  } catch { // it was cut off
    return { role: "assistant", content: written.replace(/^\s*\{\s*"text"\s*:\s*"/, "") };
  }
  if (!found.tool) return { role: "assistant", content: found.text };
  const call = { name: found.tool, arguments: JSON.stringify(found.arguments) };
  return { role: "assistant", content: null, tool_calls: [{ id: "", type: "function", function: call }] };
}

let queue = Promise.resolve(); // one request at a time
const server = createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const body = JSON.parse(Buffer.concat(pieces));
  queue = queue.then(() => answer(body)).then(
    (found) => [200, found],
    (error) => [400, { error: { message: String(error.message) } }],
  );
  const [status, found] = await queue;
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(found));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
