package main

import (
	"strings"
	"syscall"
	"testing"
)

// TestHealthOfThisMachine: it is asked where the settings say, in the way that
// they want.
func TestHealthOfThisMachine(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]string{
		"plain":              nil,
		"the PROXY protocol": {"SLUICE_PROXY_PROTOCOL=127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := program(t, "serve", "--listen", "127.0.0.1:0")
			cmd.Env = append(cmd.Env, settings...)
			r := start(t, cmd)
			defer r.stop(t, syscall.SIGTERM)
			ask := program(t, "health")
			ask.Env = append(append(ask.Env, settings...), "SLUICE_LISTEN="+strings.TrimPrefix(r.url, "http://"))
			if out, err := ask.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
