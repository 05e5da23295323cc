package sender

import (
	"context"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sluice"
)

func TestMain(m *testing.M) {
	Presets() // it panics if one of them is wrong
	goleak.VerifyTestMain(m)
}

// vectors are calls of a provider, good and forged: vectors.json of its folder, made by
// testdata/generate.mjs or testdata/byhand.mjs.
type vectors struct {
	Made       string            `json:"made"`
	Now        int64             `json:"now"`
	Secrets    []string          `json:"secrets"`
	Keys       map[string]string `json:"keys"`
	Calls      []vector          `json:"calls"`
	Handshakes []vector          `json:"handshakes"`
}

type vector struct {
	Name   string            `json:"name"`
	Method string            `json:"method"`
	URL    string            `json:"url"`
	Header map[string]string `json:"header"`
	Body   string            `json:"body"`
	Want   string            `json:"want"` // ok, or a code
	ID     *string           `json:"id"`   // of the delivery

	VerifyToken string        `json:"verifyToken"`
	Secrets     *[]string     `json:"secrets"` // of a handshake, if others than those of the file
	Answer      *vectorAnswer `json:"answer"`
}

type vectorAnswer struct {
	Status        int               `json:"status"`
	Header        map[string]string `json:"header"`
	Body          string            `json:"body"`
	LearnedSecret string            `json:"learnedSecret"`
	Fetch         string            `json:"fetch"`
}

func (v *vector) call() *Call {
	header := http.Header{}
	for name, value := range v.Header {
		header.Set(name, value)
	}
	return &Call{Method: v.Method, URL: v.URL, Header: header, Body: []byte(v.Body)}
}

func (v *vectors) now() time.Time { return time.Unix(v.Now, 0) }

func readVectors(t testing.TB, name string) (v vectors) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("known", name, "vectors.json"))
	if err == nil {
		err = json.Unmarshal(content, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// listedKeys are keys that a test has.
type listedKeys map[string]string

func (k listedKeys) Get(_ context.Context, address string, _ time.Duration) ([]byte, error) {
	if content, ok := k[address]; ok {
		return []byte(content), nil
	}
	return nil, sluice.CodeSenderKeysUnavailable.Errorf("There is no %s.", address)
}

func verifierOf(t testing.TB, name string, secrets []string, keys listedKeys) *Verifier {
	t.Helper()
	p, ok := Find(name)
	if !ok {
		t.Fatalf("no preset %s", name)
	}
	v, err := New(p, secrets, keys)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func codeOf(err error) string {
	if err == nil {
		return "ok"
	}
	return sluice.AsError(err).Code
}

func TestVectors(t *testing.T) {
	for _, p := range Presets() {
		t.Run(p.Name, func(t *testing.T) {
			file := readVectors(t, p.Name)
			v := verifierOf(t, p.Name, file.Secrets, file.Keys)
			dedupe, err := ParseDedupe(p.Dedupe)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range file.Calls {
				call := c.call()
				if err := v.Verify(t.Context(), call, file.now()); codeOf(err) != c.Want {
					t.Errorf("%s: %s (%v), want %s", c.Name, codeOf(err), err, c.Want)
				}
				if string(call.Body) != c.Body {
					t.Errorf("%s: the body was changed", c.Name)
				}
				if c.ID == nil {
					continue
				}
				if id, err := dedupe.ID(call); err != nil || id != *c.ID {
					t.Errorf("%s: id is %q, %v, want %q", c.Name, id, err, *c.ID)
				}
			}
		})
	}
}

func TestHandshakeVectors(t *testing.T) {
	for _, p := range Presets() {
		t.Run(p.Name, func(t *testing.T) {
			file := readVectors(t, p.Name)
			for _, h := range file.Handshakes {
				secrets := file.Secrets
				if h.Secrets != nil {
					secrets = *h.Secrets
				}
				v := verifierOf(t, p.Name, secrets, file.Keys)
				answer, err := v.Handshake(t.Context(), h.call(), file.now(), h.VerifyToken)
				if want := h.Want; codeOf(err) != want && (want != "" || err != nil) {
					t.Errorf("%s: %v, want %s", h.Name, err, want)
				}
				if diff := cmp.Diff(h.Answer, flat(answer, h.Answer)); diff != "" {
					t.Errorf("%s: %s", h.Name, diff)
				}
			}
		})
	}
}

// flat returns an answer as vectors have it, with the headers that are wanted.
func flat(a *Answer, want *vectorAnswer) *vectorAnswer {
	if a == nil {
		return nil
	}
	header := map[string]string{}
	for name := range a.Header {
		wanted := name
		if want != nil {
			for w := range want.Header {
				if strings.EqualFold(w, name) {
					wanted = w
				}
			}
		}
		if wanted == "X-Content-Type-Options" && (want == nil || want.Header[wanted] == "") {
			continue // is always there, and harmless
		}
		header[wanted] = a.Header.Get(name)
	}
	return &vectorAnswer{a.Status, header, string(a.Body), a.LearnedSecret, a.Fetch}
}

// A preset can't be declared without its words, its samples, its vectors, and forged ones
// beside the good.
func TestPresetsAreComplete(t *testing.T) {
	presets := Presets()
	if !slices.IsSortedFunc(presets, func(a, b Preset) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the presets are not in the order of their names")
	}
	for _, p := range presets {
		file := readVectors(t, p.Name)
		kinds := map[string]int{}
		for _, c := range file.Calls {
			kinds[c.Want]++
		}
		shakes := p.Handshake.Words != ""
		for what, there := range map[string]bool{
			"title":             p.Title != "",
			"what is checked":   p.Checks != "",
			"first setup line":  p.Setup[0] != "",
			"second setup line": p.Setup[1] != "",
			"third setup line":  p.Setup[2] != "",
			"delivery id":       p.Dedupe != "",
			"secret":            p.Secret != "" || p.SecretOptional,
			"how it was made":   file.Made != "",
			"good vectors":      kinds["ok"] > 0,
			"forged vectors":    p.Secret == "" || kinds["signature-invalid"] > 0 && kinds["signature-missing"] > 0,
			"handshake vectors": shakes == (len(file.Handshakes) > 0),
			"handshake":         shakes == handshakeIsSaid(t, p),
			"one way to check":  p.Signature == nil || p.Verifier == "",
			"way to check":      (p.Secret != "") == (p.checker != nil),
			"samples":           len(p.Samples()) >= 1 && len(p.Samples()) <= 3,
			"retries":           retriesAreSaid(p.Retries),
		} {
			if !there {
				t.Errorf("%s: %s is missing", p.Name, what)
			}
		}
		for _, line := range p.Setup {
			if strings.Contains(line, "\n") {
				t.Errorf("%s: a set-up line is more than one", p.Name)
			}
		}
	}
}

// handshakeIsSaid reports whether a preset says how its handshake is answered.
func handshakeIsSaid(t *testing.T, p Preset) bool {
	h := p.Handshake
	places := append(slices.Collect(maps.Keys(h.When)), slices.Collect(maps.Values(h.JSON))...)
	if h.Text != "" {
		places = append(places, h.Text)
	}
	for _, at := range places {
		if d, err := ParseDedupe(string(at)); err != nil || !slices.Contains([]string{"header", "query", "body"}, d.where) {
			t.Errorf("%s: the handshake has no place %s", p.Name, at)
		}
	}
	return h.By != "" || h.Text != "" || h.JSON != nil || h.Empty
}

// TestFoldersHaveWhatIsRead: all folders of known senders are read, and nothing lies in them
// that nobody reads.
func TestFoldersHaveWhatIsRead(t *testing.T) {
	entries, err := os.ReadDir("known")
	if err != nil || len(entries) != len(Presets()) {
		t.Errorf("%d presets and %d folders (%v)", len(Presets()), len(entries), err)
	}
	files, err := filepath.Glob(filepath.Join("known", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := filepath.Base(f); name != "preset.yaml" && name != "vectors.json" && filepath.Ext(name) != ".http" {
			t.Errorf("nobody reads %s", f)
		}
	}
}

// TestPresetsAreReadStrictly: a mistake in a preset is an error that says where it is.
func TestPresetsAreReadStrictly(t *testing.T) {
	good, err := folders.ReadFile("known/stripe/preset.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parsePreset("stripe", good); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ old, new, want string }{
		"an unknown field":        {"dedupe:", "deduped:", "field deduped not found"},
		"one in the signature":    {"  format:", "  formats:", "field formats not found"},
		"a field twice":           {"retries:", "title: x\nretries:", "already defined"},
		"a fourth line of set-up": {"signature:\n", "  - x\nsignature:\n", "want 3 elements but got 4"},
		"an unknown algorithm":    {"  header:", "  algorithm: md5\n  header:", "algorithm must be one of"},
		"a header that is none":   {"Stripe-Signature\n", "'Stripe Signature'\n", "must be the name of a header"},
		"an unknown key":          {"  header:", "  key: base32\n  header:", "no code has the name that key gives"},
		"an unknown verifier":     {"signature:\n", "verifier: y\nsignature:\n", "no code has the name that verifier gives"},
		"an unknown greeter":      {"signature:\n", "handshake: {by: y}\nsignature:\n", "no code has the name that by gives"},
	} {
		bad := strings.Replace(string(good), test.old, test.new, 1)
		if _, err := parsePreset("stripe", []byte(bad)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func retriesAreSaid(text string) bool {
	_, err := sluice.ParseAge(text)
	return err == nil || text == "none" || text == "unknown"
}

// headerOf returns the headers of a sample.
func headerOf(s sluice.Sample) http.Header {
	header := http.Header{"Content-Type": {s.ContentType}}
	for name, value := range s.Headers {
		header.Set(name, value)
	}
	return header
}

// Each sample can be sent as it is: it reads as its type says, no handshake is taken for
// one, and signed it is accepted, with a new delivery id each time.
func TestSamples(t *testing.T) {
	for _, p := range Presets() {
		file := readVectors(t, p.Name)
		v := verifierOf(t, p.Name, file.Secrets, file.Keys)
		dedupe, err := ParseDedupe(p.Dedupe)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Samples() {
			t.Run(p.Name+"/"+s.Name, func(t *testing.T) {
				media, _, err := mime.ParseMediaType(s.ContentType)
				if err != nil || strings.HasSuffix(media, "json") && !json.Valid([]byte(s.Body)) {
					t.Errorf("%q is not what its type %s says: %s", s.Name, media, s.Body)
				}
				ids := map[string]bool{}
				for range 2 {
					call := &Call{Method: "POST", URL: "https://hooks.example.com/x?token=1", Header: headerOf(s), Body: []byte(s.Body)}
					dedupe.Renew(call, p.Split)
					for name, values := range call.Header {
						if len(values) != 1 {
							t.Errorf("the header %s has %d values", name, len(values))
						}
					}
					if answer, err := v.Handshake(t.Context(), call, file.now(), ""); answer != nil || err != nil {
						t.Errorf("it is taken for a handshake: %v, %v", answer, err)
					}
					err := v.Sign(call, file.now())
					if slices.Contains(unsignable, p.Name) != (codeOf(err) == "not-signable") {
						t.Fatal(err)
					}
					if err == nil {
						err = v.Verify(t.Context(), call, file.now())
					}
					if err != nil && codeOf(err) != "not-signable" {
						t.Errorf("it is refused: %v", err)
					}
					id, err := dedupe.ID(call)
					if err != nil || ids[id] && id != "" {
						t.Errorf("the delivery id is %q, %v, and was before", id, err)
					}
					ids[id] = true
				}
				if ids[""] && p.Dedupe != "off" && s.Name != "batch" && !strings.HasPrefix(p.Dedupe, "item:") && // TestPresetsSplitTheirSamples
					!slices.Contains(withoutID, p.Name+"/"+s.Name) {
					t.Error("it has no delivery id")
				}
			})
		}
	}
}

// withoutID are samples of kinds that have no delivery id, unlike others of their sender.
var withoutID = []string{"slack/slash-command", "meta/page-comment"}

// unsignable are presets whose calls only the sender can sign.
var unsignable = []string{"aws-sns", "discord", "google-pubsub", "paypal", "plaid", "sendgrid", "wise"}

// What Sign makes, Verify accepts: with either of two secrets, and not with a
// third.
func TestSign(t *testing.T) {
	for _, p := range Presets() {
		t.Run(p.Name, func(t *testing.T) {
			file := readVectors(t, p.Name)
			v := verifierOf(t, p.Name, file.Secrets, file.Keys)
			now := time.Unix(1_800_000_000, 0)
			call := &Call{Method: "POST", URL: "https://hooks.example.com/x?token=1", Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"value": [{"a": 1}]}`)}
			err := v.Sign(call, now)
			if slices.Contains(unsignable, p.Name) {
				if codeOf(err) != "not-signable" {
					t.Fatalf("error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Verify(t.Context(), call, now); err != nil {
				t.Errorf("%v", sluice.AsError(err).Err)
			}
			if len(file.Secrets) == 0 {
				return
			}
			another := "whsec_AAAA"
			if p.Name == "adyen" || p.Name == "gitlab" {
				another = "AAAA" // it has to be hex; or whsec_ says that it is of another kind
			}
			two := verifierOf(t, p.Name, []string{another, file.Secrets[0]}, nil)
			if err := two.Verify(t.Context(), call, now); err != nil {
				t.Errorf("as the second of two: %v", err)
			}
			wrong := verifierOf(t, p.Name, []string{another}, nil)
			if err := wrong.Verify(t.Context(), call, now); codeOf(err) != "signature-invalid" {
				t.Errorf("with another secret: %v", err)
			}
		})
	}
}

// Own schemes are strong enough for the presets that most people know.
func TestOwnSchemesAgreeWithPresets(t *testing.T) {
	own := map[string]string{
		"github":            `{"header": "X-Hub-Signature-256", "format": "sha256={signature}"}`,
		"stripe":            `{"header": "stripe-signature", "format": "t={timestamp},v1={signature}", "signed": "{timestamp}.{body}", "tolerance": "5m"}`,
		"slack":             `{"header": "X-Slack-Signature", "format": "v0={signature}", "signed": "v0:{timestamp}:{body}", "timestampHeader": "X-Slack-Request-Timestamp"}`,
		"shopify":           `{"header": "X-Shopify-Hmac-SHA256", "encoding": "base64"}`,
		"standard-webhooks": `{"header": "webhook-signature", "format": "v1,{signature}", "algorithm": "sha256", "encoding": "base64", "signed": "{id}.{timestamp}.{body}", "timestampHeader": "webhook-timestamp", "idHeader": "webhook-id"}`,
		"paddle":            `{"header": "Paddle-Signature", "format": "ts={timestamp};h1={signature}", "signed": "{timestamp}:{body}"}`,
		"square":            `{"header": "x-square-hmacsha256-signature", "encoding": "base64", "signed": "{url}{body}"}`,
		"trello":            `{"header": "x-trello-webhook", "algorithm": "sha1", "encoding": "base64", "signed": "{body}{url}"}`,
		"discord":           `{"header": "X-Signature-Ed25519", "algorithm": "ed25519", "signed": "{timestamp}{body}", "timestampHeader": "X-Signature-Timestamp"}`,
	}
	for name, text := range own {
		t.Run(name, func(t *testing.T) {
			scheme, err := ParseScheme([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			file := readVectors(t, name)
			secret := strings.ReplaceAll(file.Secrets[0], "whsec_M", "base64:M")
			v, err := New(scheme, []string{secret}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range file.Calls {
				if err := v.Verify(t.Context(), c.call(), file.now()); codeOf(err) != c.Want {
					t.Errorf("%s: %s, want %s", c.Name, codeOf(err), c.Want)
				}
			}
		})
	}
}
