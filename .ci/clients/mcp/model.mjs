// A model API on loopback that plays a script: an array of turns, each an array of content
// blocks. A coding agent that is pointed at it asks for what the script says.
import http from 'node:http'

export function playModel(script) {
  const results = [] // what the agent sent back: the tool results of each turn
  let made = 0
  const id = prefix => `${prefix}_${Date.now()}${String(++made).padStart(6, '0')}`
  const server = http.createServer(async (req, res) => {
    let raw = ''
    for await (const chunk of req) raw += chunk
    if (req.method === 'HEAD') return res.end()
    if (!req.url.startsWith('/v1/messages')) return res.writeHead(404).end('{}')
    if (req.url.includes('count_tokens')) return res.end('{"input_tokens":100}')
    const body = JSON.parse(raw)
    const said = (body.messages || []).filter(m => m.role === 'assistant' && Array.isArray(m.content) && m.content.some(b => b.type === 'tool_use'))
    const last = body.messages?.at(-1)?.content
    if (body.tools?.length && Array.isArray(last)) results[said.length] = last.filter(b => b.type === 'tool_result')
    const turn = body.tools?.length ? script[Math.min(said.length, script.length - 1)] : [{ type: 'text', text: 'title' }]
    const blocks = turn.map(b => (b.type === 'tool_use' ? { id: id('toolu'), ...b } : b))
    const message = { id: id('msg'), type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } }
    const stop = blocks.some(b => b.type === 'tool_use') ? 'tool_use' : 'end_turn'
    if (!body.stream) return res.end(JSON.stringify({ ...message, content: blocks, stop_reason: stop }))
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (type, data) => res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
    send('message_start', { message })
    blocks.forEach((b, index) => {
      const text = b.type === 'text'
      send('content_block_start', { index, content_block: text ? { type: 'text', text: '' } : { type: 'tool_use', id: b.id, name: b.name, input: {} } })
      send('content_block_delta', { index, delta: text ? { type: 'text_delta', text: b.text } : { type: 'input_json_delta', partial_json: JSON.stringify(b.input) } })
      send('content_block_stop', { index })
    })
    send('message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 20 } })
    send('message_stop', {})
    res.end()
  })
  return new Promise(done => server.listen(0, '127.0.0.1', () => done({ url: `http://127.0.0.1:${server.address().port}`, results, close: () => server.close() })))
}
