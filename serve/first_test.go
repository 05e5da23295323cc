package serve_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice/serve"
)

// get gets a URL with headers, names and values in turn.
func (r *running) get(method, url string, headers ...string) answer {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, url, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, content}
}

var signInLink = regexp.MustCompile(`it works once, within an hour: (\S+/signin/link/(\S+))`)

// byLink signs in with the link of the banner, and returns the cookie.
func (r *running) byLink() string {
	r.t.Helper()
	link := signInLink.FindStringSubmatch(r.banner.String())
	if link == nil {
		r.t.Fatalf("there is no link:\n%s", r.banner)
	}
	got := r.get("GET", link[1]).wantStatus(r.t, http.StatusSeeOther)
	if to := got.header.Get("Location"); to != "/" {
		r.t.Errorf("the link leads to %q", to)
	}
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	return cookie
}

// TestFirstLink: the first start prints a link that signs one browser in. Looking at it does
// not use it up, it is no cookie, and its use stands in the audit log.
func TestFirstLink(t *testing.T) {
	t.Parallel()
	r := runServer(t, "")
	link := signInLink.FindStringSubmatch(r.banner.String())
	if link == nil {
		t.Fatalf("there is no link:\n%s", r.banner)
	}
	r.get("HEAD", link[1]).wantStatus(t, http.StatusMethodNotAllowed)
	r.get("GET", r.url+"/", "Cookie", "sluice-session="+link[2]).wantStatus(t, http.StatusSeeOther)
	cookie := r.byLink()
	if page := r.get("GET", r.url+"/", "Cookie", cookie).wantStatus(t, http.StatusOK); !strings.Contains(string(page.body), ">admin</a>") {
		t.Errorf("the page is nobody's: %s", page.body)
	}
	if again := r.get("GET", link[1]).wantStatus(t, http.StatusGone); again.header.Get("Set-Cookie") != "" || !strings.Contains(string(again.body), "This link was used") {
		t.Errorf("a second use answers %v", again)
	}
	r.get("GET", r.url+"/signin/link/"+strings.Repeat("x", len(link[2]))).wantStatus(t, http.StatusGone)
	if log := r.get("GET", r.url+"/audit?access=true", "Cookie", cookie).wantStatus(t, http.StatusOK); !strings.Contains(string(log.body), "login") {
		t.Errorf("the audit log has no login: %s", log.body)
	}
	if strings.Contains(r.log.String(), link[2]) {
		t.Error("the log has the link in it")
	}
	r.stop()

	if given := runServer(t, adminPassword).banner.String(); signInLink.MatchString(given) {
		t.Errorf("there is a link although the password was given:\n%s", given)
	}
}

// TestNewPasswordEndsTheLink: whoever has seen the terminal can't sign in any more.
func TestNewPasswordEndsTheLink(t *testing.T) {
	t.Parallel()
	r := runServer(t, "")
	link := signInLink.FindStringSubmatch(r.banner.String())[1]
	r.stop()
	if _, err := serve.SetAdminPassword(t.Context(), r.config, adminPassword, r.log.logger()); err != nil {
		t.Fatal(err)
	}
	again := &running{service: &service{t: t, config: r.config, log: r.log, client: newClient()}, banner: new(transcript)}
	again.resume()
	t.Cleanup(again.service.stop)
	_, path, _ := strings.Cut(link, "/signin")
	again.get("GET", again.base()+"/signin"+path).wantStatus(t, http.StatusGone)
}

// TestDemo: there is something to look at, every page says what it is, and nothing else is
// mixed with it.
func TestDemo(t *testing.T) {
	t.Parallel()
	other := load(t, newFolder(t), "demo=true")
	if err := os.WriteFile(filepath.Join(other.Data, "notes.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := serve.Start(t.Context(), other, serve.Options{Log: new(transcript).logger()}); err == nil || !strings.Contains(err.Error(), "something other than a demo") {
		t.Errorf("a folder with other things: %v", err)
	}

	r := runServer(t, "", "demo=true")
	const says = "This is a demo"
	cookie := r.byLink()
	for _, path := range []string{"/signin", "/", "/calls", "/nowhere"} {
		if page := string(r.get("GET", r.url+path, "Cookie", cookie, "Accept", "text/html").body); !strings.Contains(page, says) {
			t.Errorf("%s does not say so: %s", path, page)
		}
	}
	password := regexp.MustCompile(`has the password (\S+)`).FindStringSubmatch(r.banner.String())[1]
	items := func(command string) (n int) {
		var found struct {
			Items []json.RawMessage `json:"items"`
		}
		r.get("GET", r.url+"/api/v3/command/"+command, "Authorization", basic("admin", password)).wantStatus(t, http.StatusOK).into(t, &found)
		return len(found.Items)
	}
	for _, command := range []string{"trace.get?status=ok", "trace.get?status=error", "trace.get?status=retrying", "deadletter.get", "quarantine.get"} {
		eventually(t, command, func() bool { return items(command) > 0 })
	}
	r.stop()

	again := &service{t: t, config: r.config, log: new(transcript), client: newClient()}
	again.config.Demo = false
	again.resume()
	t.Cleanup(again.stop)
	if page := again.send("GET", "/signin", nil).wantStatus(t, http.StatusOK); !strings.Contains(string(page.body), says) {
		t.Errorf("a demo that is started as a server does not say so: %s", page.body)
	}
}
