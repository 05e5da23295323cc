package serve_test

import (
	"net/url"
	"strings"
	"testing"
)

// TestLastUsed: who or what was used last is shown, also after a restart.
func TestLastUsed(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, name := range []string{"used", "idle"} {
		s.command("secret.put", map[string]any{"name": name, "value": "hush"}).wantStatus(t, 200)
		s.command("iam.user.put", map[string]any{"username": name, "password": "a long password", "roles": []any{"viewer"}}).wantStatus(t, 200)
	}
	client := s.command("iam.client.put", map[string]any{"clientId": "robot", "roles": []any{"viewer"}}).object(t)
	s.whoami(basic("used", "a long password")).wantStatus(t, 200)
	token := s.token(url.Values{"grant_type": {"client_credentials"}, "client_id": {"robot"}, "client_secret": {client["secret"].(string)}}).object(t)
	s.whoami("Bearer "+token["access_token"].(string)).wantStatus(t, 200)
	s.run("pipeline: [set: {value: '#{secret(\"used\") != \"\"}'}]").wantStatus(t, 200)
	s.stop()
	s.resume()
	for _, name := range []string{"iam.user.get", "secret.get"} {
		var items []map[string]any
		s.command(name, nil).wantStatus(t, 200).into(t, &items)
		for _, item := range items {
			_, has := item["lastUsed"]
			if is := item["username"] == "used" || item["username"] == "admin" || item["name"] == "used"; has != is {
				t.Errorf("%s: %v", name, item)
			}
		}
	}
	if got := s.command("iam.client.get", map[string]any{"clientId": "robot"}).String(); !strings.Contains(got, "lastUsed") {
		t.Errorf("the client is %s", got)
	}
}
