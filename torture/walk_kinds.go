package main

import "slices"

// A walkKind is a sort of webhook.
type walkKind struct {
	name     string
	put      map[string]any // parameters of webhook.put
	pipeline string         // "": none listens
	times    int            // retries
	forwards bool           // what was accepted must reach a recipient

	result func(*walkCall) string // of a call that went well; nil: nobody asks for it
}

// isMark is the result of pipelines that give back the mark.
func isMark(c *walkCall) string { return `"` + c.mark + `"` }

// isSeen is the result of pipelines that give back what a recipient said.
func isSeen(c *walkCall) string { return `"` + seen(c.mark) + `"` }

// kindsOfWalk are the webhooks of a walk and the pipelines that listen to them. %a and %b stand
// for the two recipients.
var kindsOfWalk = append([]walkKind{
	{"forwarded", map[string]any{"payloadType": "raw"}, `
retry: {times: 3, backoff: 100ms, maxBackoff: 300ms}
pipeline:
  - event.listen: {eventKey: webhook.walk.forwarded}
  - iam.run.as: {username: admin}
  - http.forward: {url: '%a/forwarded', timeout: 2s, sign: walk}
`, 3, true, nil},
	{"decoded", nil, `
pipeline:
  - event.listen: {eventKey: webhook.walk.decoded}
  - convert.fromBase64: {input: '#{body.payload.origin}'}
  - convert.fromJson
  - set: {value: '#{body.mark}'}
`, 0, false, isMark},
	{"deduped", map[string]any{"payloadType": "raw", "dedupe": "header:X-Id"}, `
pipeline:
  - event.listen: {eventKey: webhook.walk.deduped}
  - set: {value: '#{body.payload.mark}'}
`, 0, false, isMark},
	{"signed", map[string]any{
		"signature": map[string]any{"header": "X-Signature"}, "signingSecret": walkSecret,
	}, "", 0, false, nil},
	{"redacted", map[string]any{"payloadType": "raw", "redact": []string{"payload.card.number"}}, `
retry: {times: 4, backoff: 200ms, maxBackoff: 400ms}
pipeline:
  - event.listen: {eventKey: webhook.walk.redacted}
  - iam.run.as: {username: admin}
  - http.forward: {url: '%b/redacted', timeout: 2s}
`, 4, true, nil},
	{"kept", map[string]any{"payloadType": "raw", "keep": "30m"}, `
pipeline:
  - event.listen: {eventKey: webhook.walk.kept}
  - set: {value: '#{body.payload.mark}'}
`, 0, false, isMark},
	{"fanned", map[string]any{"payloadType": "raw"}, `
retry: {times: 2, backoff: 100ms}
pipeline:
  - event.listen: {eventKey: webhook.walk.fanned}
  - iam.run.as: {username: admin}
  - event.send: {eventKey: walk.sent, payload: '#{body.payload}'}
  - event.send: {eventKey: walk.sent, payload: '#{body.payload}'}
`, 2, true, nil},
	{"divided", map[string]any{"payloadType": "raw"}, `
retry: {times: 5, backoff: 20s, maxBackoff: 30s}
pipeline:
  - event.listen: {eventKey: webhook.walk.divided}
  - iam.run.as: {username: admin}
  - http.request:
      url: '#{body.payload.to == "a" ? "%a/divided" : "%b/divided"}'
      method: POST
      body: '#{body.payload}'
      expect: 2xx
      timeout: 2s
  - set: {value: '#{body.body}'}
`, 5, true, isSeen},
	{"ordered", map[string]any{"payloadType": "raw"}, `
order: '#{body.payload.to}'
retry: {times: 5, backoff: 100ms, maxBackoff: 500ms}
pipeline:
  - event.listen: {eventKey: webhook.walk.ordered}
  - iam.run.as: {username: admin}
  - http.request: {url: '%a/ordered', method: POST, body: '#{body.payload}', expect: 2xx, timeout: 10s}
  - set: {value: '#{body.body}'}
`, 5, true, isSeen},
	{"once", map[string]any{"payloadType": "raw"}, `
retry: {times: 5, backoff: 100ms, maxBackoff: 500ms}
pipeline:
  - event.listen: {eventKey: webhook.walk.once}
  - iam.run.as: {username: admin}
  - set: {value: '#{body.payload}', output: vars.payload}
  - http.request: {url: '%a/once', method: POST, body: '#{vars.payload}', expect: 2xx, timeout: 10s, once: true}
  - http.request: {url: '%b/afterwards', method: POST, body: '#{vars.payload}', expect: 2xx, timeout: 10s}
  - set: {value: '#{body.body}'}
`, 5, true, isSeen},
	{"typed", map[string]any{"payloadType": "raw", "eventType": "body:to"}, `
pipeline:
  - event.listen: {eventKey: webhook.walk.typed, type: [a], where: '#{body.payload.even}'}
  - set: {value: '#{body.payload.mark}'}
`, 0, false, func(c *walkCall) string {
		if c.to == "a" && c.even {
			return isMark(c)
		}
		return `{"status":"OK","traceId":"` + c.traceID + `"}` // as if none listened
	}},
	{"batched", map[string]any{"payloadType": "raw", "split": "payload", "dedupe": "item:mark"}, `
pipeline:
  - event.listen: {eventKey: webhook.walk.batched}
  - set: {value: '#{body.payload.mark}'}
`, 0, false, nil},
	{"worked", map[string]any{"payloadType": "raw"}, `
pipeline:
  - event.listen: {eventKey: webhook.walk.worked}
  - iam.run.as: {username: admin}
  - work: {queue: walk, input: '#{body.payload.mark}'}
`, 0, false, isSeen},
}, kindsOfTargets()...)

// kindOfWalk returns the kind with a name; one without anything if there is none.
func kindOfWalk(name string) walkKind {
	at := slices.IndexFunc(kindsOfWalk, func(k walkKind) bool { return k.name == name })
	if at < 0 {
		return walkKind{}
	}
	return kindsOfWalk[at]
}

// sentKey is the event key of what the pipeline of the kind fanned sends.
const sentKey = "walk.sent"

// sentPipeline forwards what the pipeline of the kind fanned sends.
const sentPipeline = `
retry: {times: 4, backoff: 100ms, maxBackoff: 300ms}
pipeline:
  - event.listen: {eventKey: walk.sent}
  - iam.run.as: {username: admin}
  - http.forward: {url: '%a/sent', timeout: 2s, sign: walk}
`
