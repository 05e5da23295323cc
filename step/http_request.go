package step

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// HTTPOptions are what http.request and http.forward need.
type HTTPOptions struct {
	AllowNetworks []netip.Prefix // may be called although they are not on the Internet
	MaxReply      int64          // bytes of the body of a reply; 0 means 4 MiB
	Spans         sluice.Spans   // reports calls, and passes the trace on
}

const defaultTimeout = 30 * time.Second

type requestParams struct {
	URL     string         `json:"url" required:"true" doc:"What to call, by http or https."`
	Method  string         `json:"method" enum:"GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS" doc:"Default GET."`
	Headers map[string]any `json:"headers" doc:"Headers to send. Those that frame the request, such as Host, are refused."`
	Body    any            `json:"body" doc:"What to send: text as it is, other values as JSON."`
	Timeout *time.Duration `json:"timeout" max:"5m" doc:"How long the call may take with redirects and answer. Default 30s."`
	Expect  any            `json:"expect" doc:"Statuses that are fine, such as 2xx, or 200,404: the step fails with another one. Default any."`
}

func requestCommand(c *client) command.Command {
	return command.New("http.request", "Call a URL and give its answer, whatever its status, unless expect says which are fine. Addresses that are not on the Internet are refused unless the operator allows them.",
		func(ctx context.Context, p requestParams) (answer, error) {
			expect, err := expectationOf(p.Expect)
			if err != nil {
				return answer{}, err
			}
			request, err := newRequest(ctx, p)
			if err != nil {
				return answer{}, err
			}
			return c.send(request, sending{&c.follow, p.Timeout, expect})
		},
		command.Traffic, command.Recorded, command.Nameless, command.Checks(c.check))
}

// carryOn sets the headers that tell the called server what caused the call.
func carryOn(ctx context.Context, header http.Header) error {
	run := sluice.RunFrom(ctx)
	if run == nil {
		hops, err := sluice.NextHop(ctx)
		header.Set(sluice.HopsHeader, strconv.Itoa(hops+1))
		return err
	}
	if run.TraceID != "" {
		header.Set(sluice.TraceHeader, run.TraceID)
	}
	header.Set(sluice.HopsHeader, strconv.Itoa(run.Hops+1))
	return nil
}

func newRequest(ctx context.Context, p requestParams) (*http.Request, error) {
	target, err := parseURL(p.URL)
	if err != nil {
		return nil, err
	}
	header, err := headerOf(p.Headers)
	if err != nil {
		return nil, err
	}
	body, contentType, err := bodyOf(p.Body)
	if err != nil {
		return nil, err
	}
	if contentType != "" && header.Get("Content-Type") == "" {
		header.Set("Content-Type", contentType)
	}
	request, err := http.NewRequestWithContext(ctx, cmp.Or(p.Method, http.MethodGet), target.String(), strings.NewReader(body))
	if err != nil {
		return nil, invalid("url", "can't be called as it is")
	}
	request.Header = header
	setAgent(header)
	return request, nil
}

// setAgent sets the User-Agent, unless there is one.
func setAgent(header http.Header) {
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", "sluice")
	}
}

// bodyOf returns what to send and its content type, or nothing for no body.
func bodyOf(body any) (text, contentType string, err error) {
	switch body := body.(type) {
	case nil:
		return "", "", nil
	case string:
		if len(body) > value.MaxSize {
			return "", "", value.TooLarge(value.MaxSize)
		}
		return body, "text/plain; charset=utf-8", nil
	default:
		text, err = encodeJSON(body)
		return text, "application/json", err
	}
}
