package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice"
	"sluice/cmd/sluice/terminal"
	"sluice/command"
	"sluice/serve"
)

// A sampled thing has values for settings that fit together.
type sampled struct {
	resource, name string
	values         map[string]any // of settings
	besides        map[string]any // what a new one needs, too
}

const sampleKey = "webhook.sampled"

// samples have a value for every setting of every resource that has settings.
var samples = []sampled{
	{"webhook", sampleKey, map[string]any{
		"payloadType": "raw", "maxPayloadLength": 7, "provider": "svix", "signingSecret": "secret:sampled",
		"dedupe": "content", "dedupeWindow": "1h", "eventType": "query:kind", "split": "payload.events", "schema": map[string]any{"type": "object"}, "allow": []any{"203.0.113.0/24"},
		"multipart": "all", "methods": []any{"PUT"}, "rate": "5/s", "expectEvery": "2h", "redact": []any{"payload.card"}, "keep": "3h",
		"apiUrl": "https://api.svix.com/api/v1/app/a/endpoint/b", "apiSecret": "secret:sampled", "missedEvery": "4h", "checkEvery": "6h",
		"answer": "value", "answerType": "text/xml", "answerWait": "5s", "disabled": true, "description": "sampled",
	}, nil},
	{"webhook", sampleKey, map[string]any{
		"signature": map[string]any{"algorithm": "sha256", "header": "X-Signature"}, "signingSecret": "secret:sampled",
	}, nil},
	{"webhook", sampleKey, map[string]any{"verifyToken": "repeat me"}, map[string]any{
		"provider": "meta", "signingSecret": "secret:sampled",
	}},
	{"role", "sampled", map[string]any{"permissions": []any{"webhook.get"}, "scope": []any{"partner"}}, nil},
	{"client", "sampled", map[string]any{
		"roles": []any{"developer"}, "grants": []any{"authorization_code", "client_credentials"},
		"redirectUris": []any{"https://example.com/back"},
	}, nil},
	{"client", "sampled", map[string]any{
		"public": true, "grants": []any{"authorization_code"}, "redirectUris": []any{"https://example.com/back"},
	}, nil},
	{"user", "sampled", map[string]any{"roles": []any{"developer"}, "disabled": true}, nil},
}

// Settings that are no part of this: names of things, and what is in need of a certificate,
// which TestClientCertificates of serve has.
var unsampled = []string{"eventKey", "clientCertificate", "clientName"}

// settingsOf returns the settings of a resource: the parameters that store what its view shows.
func settingsOf(t *testing.T, res sluice.Resource) (settings []command.Param) {
	t.Helper()
	put, _ := serve.Commands().Find(res.Put)
	shown := reflect.VisibleFields(put.Results[0])
	for _, p := range put.Params {
		isShown := slices.ContainsFunc(shown, func(f reflect.StructField) bool {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return name == p.Name && !f.Anonymous
		})
		if isShown && p.Name != res.Key && p.Name != "uuid" {
			settings = append(settings, p)
		}
	}
	return settings
}

// A person who empties settings in one of the ways there are.
type emptier struct {
	*hooked

	t      *testing.T
	client *http.Client
}

// TestEverySettingIsShownAndEmptied: what a setting is set to is shown, and it can be emptied
// over HTTP, by the form of the portal, by a file and on the command line. The settings are
// those that commands declare: a new one needs a sample above, and no place that empties it may
// have been forgotten.
func TestEverySettingIsShownAndEmptied(t *testing.T) {
	t.Parallel()
	jar, _ := cookiejar.New(nil)
	e := &emptier{startHooked(t, "webhook.other"), t, &http.Client{Jar: jar}}
	e.post("/signin", url.Values{"username": {"admin"}, "password": {"a-short-tour"}})
	e.api("secret.put", map[string]any{"name": "sampled", "value": "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"})
	ways := map[string]func(sluice.Resource, sampled, []command.Param){
		"HTTP": e.byAPI, "form": e.byForm, "file": e.byFile, "command line": e.byCommandLine,
	}
	have := make(map[string]bool)
	for _, sample := range samples {
		res := sluice.ResourceNamed(sample.resource)
		var settings []command.Param
		for _, p := range settingsOf(t, res) {
			if _, ok := sample.values[p.Name]; ok {
				settings = append(settings, p)
				have[res.Name+"."+p.Name] = true
			}
		}
		for way, empty := range ways {
			if way == "file" && sample.resource == "user" {
				continue // files have none
			}
			fresh := e.make(res, sample, sample.besides)
			e.remove(res, sample, fresh)
			set := e.make(res, sample, sample.besides, sample.values)
			for _, p := range settings {
				if want := sample.values[p.Name]; !reflect.DeepEqual(set[p.Name], decoded(want)) {
					t.Errorf("%s.%s is shown as %v, want %v", res.Name, p.Name, set[p.Name], want)
				}
			}
			empty(res, sample, settings)
			after := e.get(res, sample)
			for _, p := range settings {
				kept := p.Form.Secret && way == "form" || p.Name == "verifyToken" && way == "file"
				byDefault := fresh[p.Name] == nil && fmt.Sprint(after[p.Name]) == emptied(p)
				none := reflect.DeepEqual(after[p.Name], []any{}) && fresh[p.Name] == nil // a list without a default of its own
				if !kept && !byDefault && !none && !reflect.DeepEqual(after[p.Name], fresh[p.Name]) {
					t.Errorf("%s.%s is %v after it was emptied by %s, want %v", res.Name, p.Name, after[p.Name], way, fresh[p.Name])
				}
			}
			e.remove(res, sample, after)
		}
	}
	for _, name := range []string{"webhook", "role", "client", "user"} {
		for _, p := range settingsOf(t, sluice.ResourceNamed(name)) {
			if !have[name+"."+p.Name] && !slices.Contains(unsampled, p.Name) {
				t.Errorf("the setting %s of a %s has no sample here", p.Name, name)
			}
		}
	}
}

// decoded returns a value as JSON has it.
func decoded(value any) (out any) {
	text, _ := json.Marshal(value)
	_ = json.Unmarshal(text, &out)
	return out
}

// emptied returns the text that removes the value of a parameter.
func emptied(p command.Param) string {
	if p.Type == "boolean" && p.Form.Emptied == "" {
		return "false"
	}
	return p.Form.Emptied
}

func (e *emptier) api(name string, params map[string]any) (answer map[string]any) {
	e.t.Helper()
	body, _ := json.Marshal(params)
	r, _ := http.NewRequestWithContext(e.t.Context(), "POST", e.url+sluice.CommandPath+name, bytes.NewReader(body))
	r.SetBasicAuth("admin", "a-short-tour")
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		e.t.Fatalf("%s %s was answered %s", name, body, text)
	}
	_ = json.Unmarshal(text, &answer)
	return answer
}

// make stores a new thing, and returns it as it is shown.
func (e *emptier) make(res sluice.Resource, s sampled, values ...map[string]any) map[string]any {
	e.t.Helper()
	params := map[string]any{res.Key: s.name}
	for _, some := range values {
		maps.Copy(params, some)
	}
	if res.Name == "role" && params["permissions"] == nil {
		params["permissions"] = []any{}
	}
	e.api(res.Put, params)
	return e.get(res, s)
}

func (e *emptier) get(res sluice.Resource, s sampled) map[string]any {
	e.t.Helper()
	return e.api(res.Get, map[string]any{res.Key: s.name})
}

func (e *emptier) remove(res sluice.Resource, s sampled, thing map[string]any) {
	e.t.Helper()
	params := map[string]any{res.Key: s.name}
	if uuid := thing["uuid"]; uuid != nil {
		params = map[string]any{"uuid": uuid}
	}
	e.api(res.Remove, params)
}

func (e *emptier) byAPI(res sluice.Resource, s sampled, settings []command.Param) {
	params := map[string]any{res.Key: s.name}
	if uuid := e.get(res, s)["uuid"]; uuid != nil {
		params["uuid"] = uuid
	}
	for _, p := range settings {
		var value any = emptied(p)
		switch {
		case p.Empty:
		case p.Type == "integer", p.Type == "boolean":
			value = json.RawMessage(emptied(p))
		case p.Type == "array":
			value = []any{}
		}
		params[p.Name] = value
	}
	e.api(res.Put, params)
}

// post sends a form of the portal.
func (e *emptier) post(path string, values url.Values) {
	e.t.Helper()
	r, _ := http.NewRequestWithContext(e.t.Context(), "POST", e.url+path, strings.NewReader(values.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", e.url)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if status, page := e.do(r); status != http.StatusOK {
		e.t.Fatalf("the form of %s was answered %d: %s", path, status, page)
	}
}

func (e *emptier) do(r *http.Request) (int, string) {
	e.t.Helper()
	response, err := e.client.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	page, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(page)
}

func (e *emptier) byForm(res sluice.Resource, s sampled, settings []command.Param) {
	path := res.Page + "/" + s.name
	if res.Name == "webhook" {
		path += "/edit"
	}
	r, _ := http.NewRequestWithContext(e.t.Context(), "GET", e.url+path, nil)
	_, page := e.do(r)
	values := url.Values{"choices": {"yes"}}
	for _, p := range settings {
		if !strings.Contains(page, `name="`+p.Name+`"`) {
			e.t.Errorf("the form of a %s has no %s", res.Name, p.Name)
		}
		values.Set(p.Name, "")
		if res.Name != "webhook" && p.Type == "boolean" {
			values.Set(p.Name, "false") // there is no empty choice
		}
	}
	e.post(path, values)
}

// byFile removes the settings from the file of a thing.
func (e *emptier) byFile(res sluice.Resource, s sampled, settings []command.Param) {
	dir := e.t.TempDir()
	e.run(e.t, "export", dir)
	file := filepath.Join(dir, res.Name+"s", s.name+".yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, p := range settings {
		line := regexp.MustCompile(`(?m)^` + p.Name + `:.*\n([ -].*\n)*`)
		if !line.Match(text) && p.Name != "verifyToken" {
			e.t.Errorf("the file of a %s has no %s:\n%s", res.Name, p.Name, text)
		}
		text = line.ReplaceAll(text, nil)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		e.t.Fatal(err)
	}
	e.run(e.t, "apply", dir, "--yes")
}

func (e *emptier) byCommandLine(res sluice.Resource, s sampled, settings []command.Param) {
	args := []string{res.Name, "edit", s.name}
	for _, p := range settings {
		args = append(args, "--"+terminal.FlagOf(p.Name)+"="+emptied(p))
	}
	e.run(e.t, args...)
}
