// The cases of claude-code-hook, for one version: VERSION, its npm folder, and countersign.
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { startModel } from './fake-model.mjs'

const [, , version, folder, countersign] = process.argv
const claude = path.join(folder, 'node_modules/@anthropic-ai/claude-code-linux-x64/claude')
const blocks = version.split('.').map(Number).reduce((a, n) => a * 10000 + n) >= 200010295
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'claude-code-hook-'))
const sleep = ms => new Promise(f => setTimeout(f, ms))
let failed = 0

// The server, with one person and one agent.
const data = path.join(work, 'data'), port = 20000 + Math.floor(Math.random() * 12000), url = `http://127.0.0.1:${port}`
function run(args, input = '', env = {}) {
  const r = spawnSync(countersign, args, { input, encoding: 'utf8', env: { PATH: process.env.PATH, HOME: work, ...env } })
  if (r.status !== 0) throw new Error(`countersign ${args.join(' ')}: ${r.stdout}${r.stderr}`)
  return r.stdout.trim()
}
run(['migrate', '--data', data])
run(['user', 'add', 'ann@example.com', '--name', 'Ann', '--role', 'admin', '--password-stdin', '--data', data], 'correct horse battery\n')
const token = scope => run(['token', 'add', scope, '--user', 'ann@example.com', '--scope', scope, '--data', data])
const agent = token('agent'), reviewer = token('reviewer')
fs.writeFileSync(path.join(work, 'policy.json'), JSON.stringify({ required_approval_tools: ['Bash'], default_timeout_minutes: 60 }))
run(['policy', 'apply', path.join(work, 'policy.json'), '--data', data, '--note', 'test'])
let server
async function start() {
  server = spawn(countersign, ['serve', '--data', data, '--addr', `127.0.0.1:${port}`], { stdio: 'ignore' })
  for (;;) { try { if ((await fetch(url + '/readyz')).ok) return } catch { } await sleep(50) }
}
async function stop() {
  const ended = new Promise(f => server.once('exit', f))
  server.kill('SIGTERM')
  await ended
}

const asPerson = { authorization: 'Bearer ' + reviewer, 'content-type': 'application/json' }
const pending = async () => (await (await fetch(url + '/v1/approvals/pending', { headers: asPerson })).json()).pending
async function onePending() {
  for (let i = 0; i < 600; i++) {
    try { const all = await pending(); if (all.length) return all[0] } catch { }
    await sleep(50)
  }
  throw new Error('nothing is pending')
}
async function decide(verdict) {
  const a = await onePending()
  const res = await fetch(`${url}/v1/approvals/${a.approvalId}/respond`, { method: 'POST', headers: asPerson, body: JSON.stringify(verdict) })
  if (!res.ok) throw new Error(`respond: ${res.status} ${await res.text()}`)
  return a
}

// agentRun runs the agent in a home of its own, on what the model plays.
let n = 0
function home() {
  const dir = path.join(work, `home${++n}`)
  fs.mkdirSync(path.join(dir, 'project'), { recursive: true })
  return dir
}
async function agentRun(dir, script, flags = [], env = {}) {
  const model = await startModel(script)
  const p = spawn(claude, ['-p', 'go', '--output-format', 'stream-json', '--verbose', '--strict-mcp-config', ...flags], {
    cwd: path.join(dir, 'project'), stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH, HOME: dir, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'dummy', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1', ...env
    }
  })
  let said = ''
  p.stdout.on('data', d => said += d)
  p.stderr.on('data', d => said += d)
  await new Promise(f => p.once('exit', f))
  model.stop()
  return { files: fs.readdirSync(path.join(dir, 'project')).filter(f => f !== '.claude').sort().join(' '), results: model.results.map(r => typeof r.content === 'string' ? r.content : JSON.stringify(r.content)), said }
}
const bash = (...commands) => [commands.map((command, i) => ({ type: 'tool_use', name: 'Bash', input: { command, description: `step ${i + 1}` } })), [{ type: 'text', text: 'All done.' }]]
const connect = dir => run(['connect', 'claude-code', '--user', '--yes', '--claude', claude, '--server', url], '', { HOME: dir, COUNTERSIGN_TOKEN: agent })

async function test(name, fn) {
  try {
    await fn()
    console.log(`ok    ${version}  ${name}`)
  } catch (e) {
    failed++
    console.log(`FAIL  ${version}  ${name}: ${e.message}`)
  }
}
function want(what, got, expected) {
  if (!(expected instanceof RegExp ? expected.test(got) : got === expected)) throw new Error(`${what}: ${JSON.stringify(got)}, want ${expected}`)
}
async function threeCalls(dir, flags, env) {
  const running = agentRun(dir, bash('touch one.txt', 'touch two.txt', 'touch three.txt'), flags, env)
  await decide({ approved: true })
  await decide({ approved: true, input: { command: 'touch edited.txt', description: 'step 2' } })
  await decide({ approved: false, reason: 'No third file.' })
  const got = await running
  want('files', got.files, 'edited.txt one.txt')
  want('what the model read', got.results.at(-1) ?? '', /Rejected by Ann: No third file\./)
}

await start()
await test('approve, edit, reject with reason', async () => {
  const dir = home()
  want('connect', connect(dir), /The hook works[^]*Connected/)
  await threeCalls(dir)
  const found = run(['disconnect', 'claude-code', '--yes'], '', { HOME: dir })
  want('disconnect', found, /asks Countersign no more/)
})
await test('the server restarts while the hook waits', async () => {
  const dir = home()
  connect(dir)
  const running = agentRun(dir, bash('touch one.txt'))
  const before = await onePending()
  await stop()
  await sleep(8000)
  await start()
  const after = await decide({ approved: true })
  want('the request', after.approvalId, before.approvalId)
  want('files', (await running).files, 'one.txt')
})
await test('the server is down before the call', async () => {
  const dir = home()
  connect(dir)
  await stop()
  const got = await agentRun(dir, bash('touch one.txt'), ['--allowedTools', 'Bash'])
  await start()
  want('files', got.files, '')
  want('what the model read', got.results.at(-1) ?? '', /no server answered/)
  want('pending', (await pending()).length, 0)
})
await test('the server is down after the decision', async () => {
  const dir = home()
  connect(dir)
  const running = agentRun(dir, bash('touch one.txt; sleep 2'))
  await decide({ approved: true })
  await sleep(500)
  await stop()
  want('files', (await running).files, 'one.txt')
  await start()
})
if (process.env.SLOW !== '0') {
  await test('an answer after 100 s', async () => {
    const dir = home()
    connect(dir)
    const running = agentRun(dir, bash('touch one.txt'))
    await onePending()
    await sleep(100_000)
    await decide({ approved: true })
    want('files', (await running).files, 'one.txt')
  })
}
const httpHook = (target, more = {}) => ['--settings', JSON.stringify({ hooks: { PreToolUse: [{ matcher: '*', hooks: [{ type: 'http', url: target, headers: { Authorization: 'Bearer $COUNTERSIGN_TOKEN' }, allowedEnvVars: ['COUNTERSIGN_TOKEN'], timeout: 60, ...more }] }] } })]
await test('http hook: approve, edit, reject with reason', () => threeCalls(home(), httpHook(url + '/hooks/claude-code?timeout=60'), { COUNTERSIGN_TOKEN: agent }))
await test('http hook: a token that is not one denies', async () => {
  const got = await agentRun(home(), bash('touch one.txt'), [...httpHook(url + '/hooks/claude-code'), '--allowedTools', 'Bash'], { COUNTERSIGN_TOKEN: 'revoked' })
  want('files', got.files, '')
})

// What the agent does with a hook that fails. A call that its own rules allow runs, unless
// the version knows onFailure.
const command = (line, more = {}) => ['--settings', JSON.stringify({ hooks: { PreToolUse: [{ matcher: '*', hooks: [{ type: 'command', command: line, timeout: 2, ...more }] }] } })]
const hang = http.createServer(() => { })
await new Promise(f => hang.listen(0, '127.0.0.1', f))
const failures = {
  'missing binary': more => command('/nonexistent/countersign hook', more),
  'crash': more => command('cat >/dev/null; kill -9 $$', more),
  'timeout': more => command('cat >/dev/null; sleep 5', more),
  'http, nobody listens': more => httpHook('http://127.0.0.1:1/hooks/claude-code', more),
  'http, timeout': more => httpHook(`http://127.0.0.1:${hang.address().port}/`, { timeout: 2, ...more })
}
for (const [name, flags] of Object.entries(failures)) {
  await test(`${name}: the call runs`, async () => want('files', (await agentRun(home(), bash('touch one.txt'), [...flags(), '--allowedTools', 'Bash'])).files, 'one.txt'))
  await test(`${name}, onFailure block: the call ${blocks ? 'is blocked' : 'runs, for this version does not know it'}`, async () =>
    want('files', (await agentRun(home(), bash('touch one.txt'), [...flags({ onFailure: 'block' }), '--allowedTools', 'Bash'])).files, blocks ? '' : 'one.txt'))
}
hang.closeAllConnections()
hang.close()
await stop()
fs.rmSync(work, { recursive: true, force: true })
process.exit(failed ? 1 : 0)
