// One Countersign on loopback, with an owner, an agent and their tokens; it can be stopped
// and started again.
import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'

export const sleep = ms => new Promise(done => setTimeout(done, ms))

export async function until(what, ok, seconds = 30) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(50)) {
    const got = await ok()
    if (got) return got
  }
  throw new Error(`${what}: not within ${seconds} s`)
}

// A folder that goes with this program.
export function folder(name) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), name))
  process.on('exit', () => fs.rmSync(dir, { recursive: true, force: true, maxRetries: 3 }))
  return dir
}

const freePort = () => new Promise(done => {
  const s = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = s.address()
    s.close(() => done(port))
  })
})

export class Countersign {
  static async start(binary) {
    const s = new Countersign()
    s.binary = binary
    s.dir = folder('cs-clients-')
    s.data = path.join(s.dir, 'data')
    const run = (input, ...args) => execFileSync(binary, [...args, '--data', s.data], { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] }).trim()
    run('correct horse battery staple\n', 'user', 'add', 'ann@example.com', '--name', 'Ann', '--role', 'admin', '--password-stdin')
    s.token = run('', 'token', 'add', 'coder', '--user', 'ann@example.com')
    s.reviewer = run('', 'token', 'add', 'phone', '--user', 'ann@example.com', '--scope', 'reviewer')
    s.addr = `127.0.0.1:${await freePort()}`
    s.url = `http://${s.addr}`
    await s.up()
    return s
  }

  async up() {
    const log = fs.openSync(path.join(this.dir, 'log'), 'a')
    this.process = spawn(this.binary, ['serve', '--data', this.data, '--addr', this.addr], { stdio: ['ignore', log, log] })
    Countersign.started.add(this.process)
    await until('the server is ready', () => fetch(this.url + '/readyz').then(r => r.ok, () => false))
  }

  // A case that fails leaves no server behind.
  static started = new Set()

  async down() {
    const ended = new Promise(done => this.process.once('exit', done))
    this.process.kill('SIGTERM')
    await ended
    Countersign.started.delete(this.process)
  }

  async api(method, at, body, token = this.reviewer) {
    const r = await fetch(this.url + at, { method, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body: body && JSON.stringify(body) })
    return r.json()
  }

  pending(n = 1) {
    return until(`${n} pending`, async () => {
      const got = await this.api('GET', '/v1/approvals/pending').catch(() => ({}))
      return got.pending?.length === n && got.pending
    })
  }

  decide(approval, verdict) {
    return this.api('POST', `/v1/approvals/${approval.approvalId}/respond`, { digest: approval.digest, ...verdict })
  }

  // A mount without sign-in, for programs that can't send a token: Host and Origin are passed on.
  openMount() {
    const proxy = http.createServer((req, res) => {
      const on = http.request(this.url + req.url, { method: req.method, headers: { ...req.headers, authorization: `Bearer ${this.token}` } }, answer => {
        res.writeHead(answer.statusCode, answer.headers)
        answer.pipe(res)
      })
      on.on('error', () => res.destroy())
      req.pipe(on)
    })
    return new Promise(done => proxy.listen(0, '127.0.0.1', () => done({ url: `http://127.0.0.1:${proxy.address().port}`, close: () => proxy.close() })))
  }
}
