package serve_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keys returns the event keys of a list of webhooks.
func keys(t *testing.T, a answer) []string {
	t.Helper()
	var hooks []hook
	a.wantStatus(t, http.StatusOK).into(t, &hooks)
	list := []string{}
	for _, h := range hooks {
		list = append(list, h.EventKey)
	}
	return list
}

// TestListWebhooks: what webhook.get lists, in the order of the event keys.
func TestListWebhooks(t *testing.T) {
	t.Parallel()
	s := start(t)
	get := func(query string) answer {
		return s.send("GET", "/api/v3/command/webhook.get"+query, nil, asAdmin)
	}
	if got := strings.TrimSpace(string(get("").body)); got != "[]" {
		t.Errorf("without webhooks it answers %s, want []", got)
	}
	for _, key := range []string{"webhook.c", "webhook.a", "webhook.b.two", "webhook.b.one", "Webhook.z"} {
		s.create(key)
	}
	for _, test := range []struct {
		name, query string
		want        []string
		more        bool
	}{
		{"all", "", []string{"Webhook.z", "webhook.a", "webhook.b.one", "webhook.b.two", "webhook.c"}, false},
		{"a part of the event key", "?search=.b.", []string{"webhook.b.one", "webhook.b.two"}, false},
		{"no such part", "?search=nothing", []string{}, false},
		{"a limit", "?limit=2", []string{"Webhook.z", "webhook.a"}, true},
		{"a limit as large as the list", "?limit=5", []string{"Webhook.z", "webhook.a", "webhook.b.one", "webhook.b.two", "webhook.c"}, false},
		{"behind a key", "?after=webhook.b.one", []string{"webhook.b.two", "webhook.c"}, false},
		{"behind a key that isn't there", "?after=webhook.b", []string{"webhook.b.one", "webhook.b.two", "webhook.c"}, false},
		{"behind the last", "?after=webhook.c", []string{}, false},
		{"all together", "?search=webhook&after=webhook.a&limit=1", []string{"webhook.b.one"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := get(test.query)
			if diff := cmp.Diff(test.want, keys(t, got)); diff != "" {
				t.Errorf("other webhooks are listed (-want +got):\n%s", diff)
			}
			if link := got.header.Get("Link"); (link != "") != test.more {
				t.Errorf("Link is %q", link)
			}
		})
	}
	get("?limit=0").wantProblem(t, http.StatusBadRequest, "parameter-invalid")
	get("?limit=-1").wantProblem(t, http.StatusBadRequest, "parameter-invalid")
	get("?limit=all").wantProblem(t, http.StatusBadRequest, "parameter-invalid")
}

var nextLink = regexp.MustCompile(`^<([^>]+)>; rel="next"$`)

// TestPages: the Link header leads through all pages, wherever the first request
// had its parameters.
func TestPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	var want []string
	for i := range 9 {
		key := fmt.Sprintf("webhook.page.%d", i)
		s.create(key)
		want = append(want, key)
	}
	s.create("other.key")
	asJSON := header("Content-Type", "application/json")
	firsts := map[string]func() answer{
		"in the query": func() answer {
			return s.send("GET", "/api/v3/command/webhook.get?limit=2&search=webhook.", nil, asAdmin)
		},
		"in the body": func() answer {
			return s.send("POST", "/api/v3/command/webhook.get", strings.NewReader(`{"limit":2,"search":"webhook."}`), asAdmin, asJSON)
		},
		"in query and body": func() answer {
			return s.send("POST", "/api/v3/command/webhook.get?search=webhook.", strings.NewReader(`{"limit":2}`), asAdmin, asJSON)
		},
	}
	for place, first := range firsts {
		t.Run(place, func(t *testing.T) {
			var got []string
			page := first()
			for range want {
				list := keys(t, page)
				if len(list) > 2 {
					t.Fatalf("a page has %d webhooks, want at most 2", len(list))
				}
				got = append(got, list...)
				link := page.header.Get("Link")
				if link == "" {
					break
				}
				next := nextLink.FindStringSubmatch(link)
				if next == nil || !strings.HasPrefix(next[1], "/api/v3/command/webhook.get?") {
					t.Fatalf("Link is %q", link)
				}
				page = s.send("GET", next[1], nil, asAdmin)
			}
			if !slices.Equal(got, want) {
				t.Errorf("the pages have %q, want %q", got, want)
			}
		})
	}
}

// TestGetWebhook: one webhook is shown as it was put.
func TestGetWebhook(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.one", "payloadType", "raw", "maxPayloadLength", 77)
	for _, spelling := range []string{h.UUID, strings.ToUpper(h.UUID)} {
		var got hook
		s.send("GET", "/api/v3/command/webhook.get?uuid="+spelling, nil, asAdmin).wantStatus(t, http.StatusOK).into(t, &got)
		if diff := cmp.Diff(h, got); diff != "" {
			t.Errorf("webhook.get shows another webhook than webhook.put (-put +get):\n%s", diff)
		}
	}
}

// TestGetByEventKey: a webhook is found by its whole event key, and by no other.
func TestGetByEventKey(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, key := range []string{"webhook.a", "webhook.a.b", "a", "-", "webhook.A", "x.webhook.a", "webhook.zz"} {
		s.create(key)
	}
	get := func(key string) answer {
		return s.send("GET", "/api/v3/command/webhook.get?eventKey="+url.QueryEscape(key), nil, asAdmin)
	}
	for _, key := range []string{"webhook.a", "webhook.a.b", "a", "-", "webhook.A", "x.webhook.a", "webhook.zz"} {
		var h hook
		if get(key).wantStatus(t, http.StatusOK).into(t, &h); h.EventKey != key {
			t.Errorf("for %s it gives %s", key, h.EventKey)
		}
	}
	for _, key := range []string{"webhook", "webhook.", "webhook.b", "b", "webhook.z", "~", "\x7f", "."} {
		get(key).wantProblem(t, http.StatusNotFound, "webhook-not-found")
	}
}
