package serve

import (
	"runtime/debug"
	"testing"
)

func TestTheCommitOfABuild(t *testing.T) {
	const hash = "4bf92f3577b34da6a3ce929d0e0e473600f067aa"
	tests := map[string]struct {
		noted  map[string]string
		length int
		want   string
	}{
		"outside a repository": {noted: map[string]string{"GOOS": "linux"}, length: fullHash},
		"of a clean tree":      {noted: map[string]string{"vcs.revision": hash, "vcs.modified": "false"}, length: fullHash, want: hash},
		"of a changed tree":    {noted: map[string]string{"vcs.revision": hash, "vcs.modified": "true"}, length: fullHash, want: hash + "+changes"},
		"for people":           {noted: map[string]string{"vcs.revision": hash, "vcs.modified": "true"}, length: 12, want: "4bf92f3577b3+changes"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var settings []debug.BuildSetting
			for key, value := range test.noted {
				settings = append(settings, debug.BuildSetting{Key: key, Value: value})
			}
			if got := commitIn(settings, test.length); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
