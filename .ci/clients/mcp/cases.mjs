// Real programs against the MCP server, offline: MCP Inspector, the conformance suite, and a
// coding agent in two versions whose model is a script.
//
//   node cases.mjs BINARY NPM_FOLDER [CASE...]
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'

import { playModel } from './model.mjs'
import { Countersign, folder, sleep } from './server.mjs'

const [binary, npm, ...wanted] = process.argv.slice(2)
const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname)
const run = promisify(execFile)
const bash = (command, description) => ({ type: 'tool_use', name: 'Bash', input: { command, description } })
const done = [{ type: 'text', text: 'All done.' }]

// coder runs the coding agent once, with the permission prompt of a server.
async function coder(version, server, script, config) {
  const model = await playModel(script)
  const home = folder('cs-coder-')
  const project = path.join(home, 'project')
  fs.mkdirSync(project)
  const env = {
    PATH: process.env.PATH, HOME: home, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1',
  }
  const mcp = JSON.stringify({ mcpServers: { countersign: config } })
  const child = spawn(path.join(npm, `claude-${version}`, 'node_modules/.bin/claude'), [
    '-p', 'go', '--output-format', 'stream-json', '--verbose', '--strict-mcp-config', '--mcp-config', mcp,
    '--permission-prompt-tool', 'mcp__countersign__approve',
  ], { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', d => (out += d))
  const ended = new Promise(resolve => child.once('exit', code => {
    model.close()
    resolve({ code, out, results: model.results[1] ?? [], exists: name => fs.existsSync(path.join(project, name)) })
  }))
  return { ended }
}

const http = (server, at) => ({ type: 'http', url: server.url + at, headers: { Authorization: `Bearer ${server.token}` } })
const stdio = server => ({ command: binary, args: ['mcp'], env: { COUNTERSIGN_SERVER: server.url, COUNTERSIGN_TOKEN: server.token } })
const three = [[{ type: 'text', text: 'Three commands.' }, bash('touch one.txt', 'first'), bash('touch two.txt', 'second'), bash('touch three.txt', 'third')], done]
const one = [[bash('touch one.txt', 'first')], done]

// batch approves the first, changes the second, and rejects the third with a reason.
async function batch(version, config) {
  const server = await Countersign.start(binary)
  const { ended } = await coder(version, server, three, config(server))
  const verdicts = { 'touch one.txt': { approved: true }, 'touch two.txt': { approved: true, input: { command: 'touch changed.txt', description: 'second' } }, 'touch three.txt': { approved: false, reason: 'not on Fridays' } }
  for (let i = 0; i < 3; i++) {
    const [row] = await server.pending()
    await server.decide(row, verdicts[row.input.command])
  }
  const r = await ended
  assert.equal(r.code, 0, r.out)
  assert.deepEqual(['one.txt', 'two.txt', 'changed.txt', 'three.txt'].map(r.exists), [true, false, true, false])
  assert.match(JSON.stringify(r.results[2]), /not on Fridays/)
  await server.down()
}

// wait answers after a while, with the server away for some of it.
async function wait(version, config, seconds, away) {
  const server = await Countersign.start(binary)
  const { ended } = await coder(version, server, one, config(server))
  await server.pending()
  await sleep(seconds * 1000)
  if (away) {
    await server.down()
    await sleep(away * 1000)
    await server.up()
  }
  const [row] = await server.pending()
  await server.decide(row, { approved: true })
  const r = await ended
  assert.ok(r.exists('one.txt'), r.out)
  await server.down()
}

// broken is a restart that the client can't get over: its call fails, and nothing runs.
async function broken(version, config) {
  const server = await Countersign.start(binary)
  const { ended } = await coder(version, server, one, config(server))
  await server.pending()
  await server.down()
  const r = await ended
  assert.ok(!r.exists('one.txt'), r.out)
  await server.up()
  await server.pending() // it is still there, and its agent is shown as not waiting
  await server.down()
}

async function questions(version, config) {
  const server = await Countersign.start(binary)
  const asked = { questions: [{ question: 'Which region?', header: 'Region', options: [{ label: 'eu', description: 'Frankfurt' }, { label: 'us', description: 'Ohio' }], multiSelect: false }] }
  const { ended } = await coder(version, server, [[{ type: 'tool_use', name: 'AskUserQuestion', input: asked }], done], config(server))
  const [row] = await server.pending()
  assert.equal(row.kind, 'question')
  await server.decide(row, { option: 'us' })
  const r = await ended
  assert.match(JSON.stringify(r.results), /us/, r.out)
  await server.down()
}

async function inspector() {
  const server = await Countersign.start(binary)
  const mount = await server.openMount()
  const bin = path.join(npm, 'inspector/node_modules/.bin/mcp-inspector')
  const call = (...args) => run(bin, ['--cli', mount.url + '/mcp', '--transport', 'http', ...args], { env: { ...process.env, HOME: server.dir } })
  const tools = JSON.parse((await call('--method', 'tools/list')).stdout).tools
  assert.equal(tools.length, 9)
  const asked = call('--method', 'tools/call', '--tool-name', 'ask_human', '--tool-arg', 'question=Which region?')
  const [row] = await server.pending()
  await server.decide(row, { answer: 'eu' })
  assert.equal(JSON.parse((await asked).stdout).structuredContent.answer, 'eu')
  mount.close()
  await server.down()
}

// The scenarios that a server without demonstration tools can pass.
const scenarios = ['server-initialize', 'logging-set-level', 'ping', 'tools-list', 'server-sse-multiple-streams', 'resources-list', 'prompts-list', 'dns-rebinding-protection']

async function conformance() {
  const server = await Countersign.start(binary)
  const mount = await server.openMount()
  const suite = path.join(npm, 'conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js')
  for (const at of ['/mcp', '/mcp/session']) {
    for (const scenario of scenarios) {
      await run('node', ['--import', path.join(here, 'conformance-node20.mjs'), suite, 'server', '--url', mount.url + at, '--scenario', scenario], { cwd: server.dir })
        .catch(e => { throw new Error(`${at} ${scenario}: ${e.stdout}${e.stderr}`) })
    }
  }
  mount.close()
  await server.down()
}

const at = place => server => http(server, place)
const cases = { inspector, conformance }
for (const version of ['2.1.328', '2.1.197']) {
  cases[`${version} batch over /mcp`] = () => batch(version, at('/mcp'))
  cases[`${version} batch over /mcp/session`] = () => batch(version, at('/mcp/session'))
  cases[`${version} batch over stdio`] = () => batch(version, stdio)
  cases[`${version} questions`] = () => questions(version, at('/mcp'))
  cases[`${version} 8 s of restart over /mcp/session`] = () => wait(version, at('/mcp/session'), 1, 8)
  cases[`${version} 8 s of restart over stdio`] = () => wait(version, stdio, 1, 8)
  cases[`${version} an answer after 100 s`] = () => wait(version, at('/mcp'), 100)
  cases[`${version} a server that does not come back`] = () => broken(version, at('/mcp'))
}

let failed = 0
for (const [name, test] of Object.entries(cases)) {
  if (wanted.length && !wanted.some(w => name.includes(w))) continue
  const begun = Date.now()
  try {
    await test()
    console.log(`ok    ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`)
  } catch (e) {
    failed++
    console.log(`FAIL  ${name}\n${e.stack ?? e}`)
  }
}
for (const server of Countersign.started) server.kill('SIGKILL')
process.exit(failed ? 1 : 0)
