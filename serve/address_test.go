package serve_test

import (
	"strings"
	"testing"
)

// TestSecondAddress: the token may stand in the path, and then it is in no other place.
func TestSecondAddress(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.path", "payloadType", "raw")
	send := func(method, behind, body string) answer {
		return s.send(method, "/hook/"+h.UUID+behind, strings.NewReader(body), header("Content-Type", "application/json"), header("Token", "mine"))
	}
	paths := make(map[string]string) // by trace id
	for behind, want := range map[string]string{"": "", "/": "", "/a/b": "/a/b", "/a%2Fb/../c//": "/a%2Fb/../c//"} {
		got := send("POST", behind+"?token=theirs&uuid=1", `{"token":"x","n":1}`).wantStatus(t, 200)
		paths[got.header.Get("Svc-Trace-Id")] = want
	}
	s.send("POST", "/hook/"+strings.Replace(h.UUID, h.UUID[:4], "0000", 1), nil).wantProblem(t, 401, "token-invalid")
	s.send("POST", "/hook/?token="+h.UUID, nil).wantProblem(t, 401, "token-missing")
	s.send("POST", receivePath+"/"+h.UUID, nil).wantStatus(t, 401)
	shown := s.command("webhook.get", map[string]any{"uuid": h.UUID}).wantStatus(t, 200).object(t)
	if url, _ := shown["hookUrl"].(string); !strings.HasSuffix(url, "/hook/"+h.UUID) {
		t.Errorf("hookUrl is %q", url)
	}
	for id, event := range s.events() {
		encoded := string(event.data)
		if want, sent := paths[id]; !sent || event.Path != want {
			t.Errorf("the path is %q, want %q", event.Path, want)
		}
		for _, kept := range []string{`"token":["theirs"]`, `"uuid":["1"]`, `"token":"mine"`, `"token":"x"`} {
			if !strings.Contains(encoded, kept) {
				t.Errorf("%s is missing in %s", kept, encoded)
			}
		}
		if strings.Contains(encoded, h.UUID) {
			t.Errorf("the token is in %s", encoded)
		}
	}
}

// TestMethods: a webhook has its own, at both addresses.
func TestMethods(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.methods")
	both := func(method string, status int, allow string) {
		t.Helper()
		for _, path := range []string{"/hook/" + h.UUID, receivePath + "?token=" + h.UUID} {
			if got := s.send(method, path, nil); got.status != status || got.header.Get("Allow") != allow {
				t.Errorf("%s %s: %s, Allow %q", method, path, got, got.header.Get("Allow"))
			}
		}
	}
	both("GET", 200, "")
	both("PUT", 405, "GET, POST")
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "methods": []string{"PUT", "POST", "DELETE"}}).wantStatus(t, 200)
	both("PUT", 200, "")
	both("DELETE", 200, "")
	both("GET", 405, "DELETE, POST, PUT")
	both("HEAD", 405, "DELETE, POST, PUT")
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "methods": []string{"HEAD"}}).wantProblem(t, 400, "parameter-invalid")
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "methods": []string{}}).wantStatus(t, 200)
	both("PUT", 405, "GET, POST")
}

// TestTheSecondAddressIsKept: a rejected call is checked again with the URL that it came to.
func TestTheSecondAddressIsKept(t *testing.T) {
	t.Parallel()
	s := start(t)
	h := s.create("webhook.kept", "signature", `{"header":"X-S","signed":"{url}{body}"}`, "signingSecret", "wrong")
	path := "/hook/" + h.UUID + "/a?b=c"
	s.send("POST", path, strings.NewReader("hi"), header("X-S", hexMAC("right", s.server.URL()+path+"hi"))).wantProblem(t, 401, "signature-invalid")
	s.command("webhook.put", map[string]any{"uuid": h.UUID, "signingSecret": "right"}).wantStatus(t, 200)
	if got := s.command("quarantine.admit", map[string]any{"eventKey": h.EventKey}).wantStatus(t, 200); !strings.Contains(string(got.body), `"admitted":1`) {
		t.Errorf("not admitted: %s", got)
	}
}
