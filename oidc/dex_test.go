package oidc

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"sluice"
)

// startDex builds and runs the provider in the folder dextest.
func startDex(t *testing.T) (issuer string) {
	t.Helper()
	if os.Getenv("TEST_DEX") == "" {
		t.Skip("Dex was not tried: building it takes minutes. Set TEST_DEX=1 to do so.")
	}
	program := filepath.Join(t.TempDir(), "dextest")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = "dextest"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("can't build Dex: %v\n%s", err, out)
	}
	dex := exec.Command(program)
	dex.Stderr = os.Stderr
	stop, err := dex.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := dex.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dex.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stop.Close() // it ends when its input does
		_, _ = io.Copy(io.Discard, out)
		_ = dex.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("Dex does not start: %v", err)
	}
	return strings.TrimSpace(line)
}

func TestDex(t *testing.T) {
	issuer := startDex(t)
	const email, password = "anna@example.com", "dex-password"
	p := NewProvider(ProviderOptions{Issuer: issuer, ClientID: "receiver", ClientSecret: "receiver-secret", RolesClaim: "groups"})
	t.Cleanup(p.HTTP.CloseIdleConnections)
	check := func(what string, id sluice.Identity, err error) {
		t.Helper()
		if err != nil || id.Username != email || len(id.Roles) != 1 || id.Roles[0] != "developer" || id.Expires.IsZero() {
			t.Errorf("%s: %+v, %v", what, id, err)
		}
	}
	id, err := p.Password(t.Context(), email, password)
	check("password", id, err)
	if _, err := p.Password(t.Context(), email, "wrong"); kindOf(err) != sluice.Unauthenticated {
		t.Errorf("wrong password: %v", err)
	}
	if _, err := p.Password(t.Context(), "nobody@example.com", password); kindOf(err) != sluice.Unauthenticated {
		t.Errorf("unknown user: %v", err)
	}

	found, err := p.remote(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config := found.oauth
	config.Scopes = append(config.Scopes, "offline_access")
	token, err := config.PasswordCredentialsToken(t.Context(), email, password)
	if err != nil {
		t.Fatal(err)
	}
	id, err = p.Access(t.Context(), token.AccessToken)
	check("access token", id, err)
	if _, err := p.Access(t.Context(), token.AccessToken+"x"); kindOf(err) != sluice.Unauthenticated {
		t.Errorf("broken access token: %v", err)
	}
	other := NewProvider(ProviderOptions{Issuer: issuer, ClientID: "receiver", ClientSecret: "receiver-secret", Audience: "another"})
	t.Cleanup(other.HTTP.CloseIdleConnections)
	if _, err := other.Access(t.Context(), token.AccessToken); kindOf(err) != sluice.Unauthenticated {
		t.Errorf("access token for another audience: %v", err)
	}
	refreshInDex(t, p, token, check)
}

func refreshInDex(t *testing.T, p *Provider, token *oauth2.Token, check func(string, sluice.Identity, error)) {
	t.Helper()
	for range 2 { // the second time from memory
		id, renewed, err := p.Refresh(t.Context(), token.RefreshToken)
		check("refresh token", id, err)
		if renewed == "" || renewed == token.RefreshToken {
			t.Errorf("Dex replaces refresh tokens, and this one is %q", renewed)
		}
		again, _, err := p.Refresh(t.Context(), renewed)
		check("new refresh token", again, err)
	}
	if _, _, err := p.Refresh(t.Context(), "x"+token.RefreshToken); err == nil {
		t.Error("a made-up refresh token is taken")
	}
}
