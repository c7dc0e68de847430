package gallery

import (
	"countersign/views"
	"countersign/views/pages/docs"
	"countersign/views/pages/webhooks"
)

func docsStates() []State {
	v, err := docs.New([]byte(Document))
	if err != nil {
		panic(err)
	}
	return []State{
		{
			Page: "docs", Name: Usual, Note: "A small document with what the real one has",
			Component: docs.Page(views.Page{Title: "API", Path: "/docs", Now: Now}, v),
		},
		{
			Page: "docs", Name: "webhooks", Note: "How to receive events",
			Component: webhooks.GuidePage(views.Page{Title: "Webhooks", Path: "/docs/webhooks", Now: Now}),
		},
	}
}

// Document is a small OpenAPI document with what the real one has.
const Document = `{"openapi":"3.1.0","info":{"title":"Countersign","version":"1.2","description":"The queue."},
"servers":[{"url":"https://sign.example.org"}],"tags":[{"name":"Tool approval","description":"For orchestrators."}],
"paths":{"/z/{tool_use_id}":{"post":{"operationId":"decide","x-order":1,"x-token":"a reviewer's token","security":[{"bearer":[]}],"tags":["Tool approval"],"summary":"Decide a call",
"parameters":[{"name":"tool_use_id","in":"path","required":true,"schema":{"type":"string"}},{"name":"limit","in":"query","schema":{"type":"integer","minimum":1,"maximum":200,"default":50}}],
"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Verdict"},"examples":{"reject":{"value":{"reason":"it's <late>"}}}}}},
"responses":{"200":{"description":"OK","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Verdict"},"examples":{"answer":{"value":{"reason":"no"}}}}}},
"409":{"description":"Conflict","x-problem-codes":["expired"],"content":{"application/problem+json":{"examples":{"expired":{"summary":"Past its deadline","value":{}}}}}}}}},
"/a":{"get":{"operationId":"watch","x-order":2,"tags":["Tool approval"],"summary":"Watch","responses":{"200":{"description":"OK","content":{"text/event-stream":{"examples":{"answer":{"value":"id: 1\nevent: x\n"}}}}}}}}},
"components":{"schemas":{"Verdict":{"required":["reason"],"properties":{
"note":{"type":["string","null"]},"reason":{"type":"string","description":"Why"},"raw":{"type":["object","array","string","number","boolean","null"]},
"by":{"anyOf":[{"$ref":"#/components/schemas/Verdict"},{"type":"null"}]},"all":{"type":"array","items":{"type":"string"}},"at":{"type":["string","null"],"format":"date-time"},
"kind":{"type":"string","enum":["a","b"]}}}}}}`
