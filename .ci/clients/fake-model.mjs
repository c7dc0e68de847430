// A model API on loopback that plays a script: an array of turns, each an array of content
// blocks. It gathers what the agent tells of its tools.
import http from 'node:http'

export async function startModel(script) {
  const results = []
  let n = 0
  const id = p => `${p}_${String(++n).padStart(24, '0')}`
  const server = http.createServer(async (req, res) => {
    let raw = ''
    for await (const c of req) raw += c
    const path = new URL(req.url, 'http://x').pathname
    if (path === '/v1/messages/count_tokens') return res.end('{"input_tokens":100}')
    if (path !== '/v1/messages' || req.method !== 'POST') {
      res.writeHead(req.method === 'HEAD' ? 200 : 404)
      return res.end()
    }
    const body = JSON.parse(raw)
    const last = body.messages.at(-1)
    for (const b of Array.isArray(last?.content) ? last.content : []) if (b.type === 'tool_result') results.push(b)
    // The turn is how many messages with a call there are; requests without tools get plain text.
    const turn = body.messages.filter(m => m.role === 'assistant' && Array.isArray(m.content) && m.content.some(b => b.type === 'tool_use')).length
    const blocks = (body.tools?.length ? script[Math.min(turn, script.length - 1)] : [{ type: 'text', text: 'title' }])
      .map(b => b.type === 'tool_use' ? { ...b, id: id('toolu') } : b)
    const stop_reason = blocks.some(b => b.type === 'tool_use') ? 'tool_use' : 'end_turn'
    const message = { id: id('msg'), type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } }
    res.setHeader('content-type', body.stream ? 'text/event-stream' : 'application/json')
    if (!body.stream) return res.end(JSON.stringify({ ...message, content: blocks, stop_reason }))
    const ev = (type, d) => res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...d })}\n\n`)
    ev('message_start', { message })
    blocks.forEach((b, index) => {
      const text = b.type === 'text'
      ev('content_block_start', { index, content_block: text ? { type: 'text', text: '' } : { type: 'tool_use', id: b.id, name: b.name, input: {} } })
      ev('content_block_delta', { index, delta: text ? { type: 'text_delta', text: b.text } : { type: 'input_json_delta', partial_json: JSON.stringify(b.input) } })
      ev('content_block_stop', { index })
    })
    ev('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } })
    ev('message_stop', {})
    res.end()
  })
  await new Promise(f => server.listen(0, '127.0.0.1', f))
  return { url: `http://127.0.0.1:${server.address().port}`, results, stop: () => { server.closeAllConnections(); server.close() } }
}
