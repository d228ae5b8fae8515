// memfs: written by `memfs install {host}`, removed by `memfs uninstall {host}` (and its
// `--user`, if it is for all projects); not to be edited.
//
// Runs the memory's hook for what happens in a session, and puts what it says into the system prompt
// of each request. The assistant keeps nothing of that, so it is kept here. Whatever goes wrong is nothing.

import { spawn } from "node:child_process"

const HOOK = "{hook}"
const HOST = "{host}"
const DEADLINE = 10_000 // ms; the hook itself ends in half of that
const STOP_DEADLINE = 30_000
const MOST_NEWS = 40_000 // characters; more than that, and the whole brief is asked for again
const TOOLS = ["write", "edit", "multiedit", "patch", "apply_patch", "read", "bash"]
const READ = "read" // nothing is decided before it
const SIDE = /^(You are a title generator|You are a context summarization agent)/ // no turn of a session

function ask(event, session, cwd, more = {}) {
  return new Promise((resolve) => {
    let child
    let said = ""
    const timer = setTimeout(() => done(true), event === "Stop" ? STOP_DEADLINE : DEADLINE)
    const done = (late) => {
      clearTimeout(timer)
      if (late) child?.kill("SIGKILL")
      resolve(late ? {} : parsed(said))
    }
    try {
      const [program, ...words] = HOOK
      child = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      child.on("error", () => done(true))
      child.on("close", () => done(false))
      child.stdin.on("error", () => {})
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (text) => (said += text))
      const payload = { hook_event_name: event, host: HOST, session_id: session, cwd, ...more }
      child.stdin.end(JSON.stringify(payload))
    } catch {
      done(true)
    }
  })
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

function contextOf(reply) {
  return reply.hookSpecificOutput?.additionalContext ?? ""
}

export const Memfs = async ({ client, directory }) => {
  const told = new Map() // by session: what the hook said, the brief first
  const roots = new Map() // by session: the one that a subagent works for, or itself
  const stopping = new Set()
  const reviewed = new Set() // sessions that were asked to look over what they remember
  let current = "" // the session that was started last: the one our tools work for
  let queue = Promise.resolve()

  async function rootOf(session) {
    if (!roots.has(session)) {
      let parent
      try {
        parent = (await client.session.get({ path: { id: session } })).data?.parentID
      } catch {}
      roots.set(session, parent ? await rootOf(parent) : session)
    }
    return roots.get(session)
  }

  // One after the other: a session's title is asked for while its first prompt is.
  function inTurn(work) {
    const turn = queue.then(work).catch(() => {})
    queue = turn
    return turn
  }

  async function start(session) {
    const news = told.get(session)?.slice(1) ?? []
    const size = news.reduce((sum, text) => sum + text.length, 0)
    if (session === current && told.has(session) && size < MOST_NEWS) return
    const source = told.has(session) ? "resume" : "startup"
    const reply = await ask("SessionStart", session, directory, { source })
    if (contextOf(reply) || !told.has(session)) told.set(session, [contextOf(reply)])
    current = session
    notify(reply)
  }

  function notify({ systemMessage }) {
    if (!systemMessage) return
    const body = { title: "memfs", message: systemMessage, variant: "info" }
    client.tui.showToast({ body }).catch(() => {})
  }

  async function prompted(session, prompt) {
    await start(session)
    const reply = await ask("UserPromptSubmit", session, directory, { prompt })
    if (contextOf(reply)) told.get(session)?.push(contextOf(reply))
    notify(reply)
  }

  async function ofTool(event, { tool, sessionID }, args) {
    if (!TOOLS.includes(tool) || (tool === READ && event === "PreToolUse")) return {}
    const { filePath, patchText, command } = args ?? {}
    const root = await rootOf(sessionID)
    const agent = root === sessionID ? {} : { agent_id: sessionID } // it has a context of its own
    const more = { tool_name: tool, tool_input: { filePath, patchText, command }, ...agent }
    return await ask(event, root, directory, more)
  }

  async function stop(session) {
    if ((await rootOf(session)) !== session) return
    const reply = await ask("Stop", session, directory, { stop_hook_active: reviewed.has(session) })
    notify(reply)
    if (reply.decision === "block" && reply.reason) {
      reviewed.add(session)
      const body = { parts: [{ type: "text", text: reply.reason, synthetic: true }] }
      client.session.promptAsync({ path: { id: session }, body }).catch(() => {})
    }
  }

  async function end(session) {
    told.delete(session)
    await ask("SessionEnd", session, directory)
  }

  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      if ((await rootOf(sessionID)) !== sessionID) return // a model asks, not a person
      const texts = parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = texts.map((part) => part.text).join("\n")
      await inTurn(() => prompted(sessionID, prompt))
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (!sessionID || SIDE.test(system[0])) return
      const session = await rootOf(sessionID)
      await inTurn(() => start(session))
      const text = (told.get(session) ?? []).filter(Boolean).join("\n\n")
      if (text) system.push(text)
    },
    "tool.execute.before": async (input, { args }) => {
      const { permissionDecision, permissionDecisionReason } =
        (await ofTool("PreToolUse", input, args)).hookSpecificOutput ?? {}
      if (permissionDecision === "deny") throw new Error(permissionDecisionReason)
    },
    "tool.execute.after": async (input, output) => {
      const context = contextOf(await ofTool("PostToolUse", input, input.args))
      if (context) output.output += `\n\n${context}`
    },
    event: async ({ event: { type, properties } }) => {
      const session = properties?.sessionID ?? properties?.info?.id
      if (type === "session.compacted") {
        told.delete(session)
      } else if (type === "session.deleted" && told.has(session)) {
        await end(session)
      } else if (type === "session.idle") {
        const stopped = stop(session)
        stopping.add(stopped)
        await stopped
        stopping.delete(stopped)
      }
    },
    dispose: async () => {
      await Promise.all(stopping)
      await Promise.all([...told.keys()].map(end))
    },
  }
}
